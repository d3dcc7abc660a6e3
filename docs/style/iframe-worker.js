/* Browsers start no worker for a page that is opened from a disk: the search works in a hidden frame there. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.inner = frame.contentWindow;
      this.inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const script = this.inner.document.createElement("script");
      this.started = new Promise((done) => script.addEventListener("load", done));
      script.src = url;
      this.inner.document.body.append(script);
    }

    postMessage(data) {
      this.started.then(() => this.inner.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
}
