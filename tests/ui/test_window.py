"""What only a window shows. Each test is one driver in drivers/."""


def test_physics_tab_draws_and_export_refuses_in_one_sentence(drive):
    log = drive("physics_tab")
    refusal = [line for line in log.splitlines() if line.startswith("REFUSAL:")]
    assert len(refusal) == 1


def test_every_panel_draws(drive):
    drive("panels")


def test_preview_plays_is_grabbed_paused_reset_kept_and_baked(drive):
    drive("preview")


def test_the_sidebar_draws_every_panel(drive):
    drive("sidebar")
