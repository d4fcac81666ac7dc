(function () {
  "use strict";
  var doc = document, own = doc.currentScript;
  var base = own && own.src ? own.src.replace(/\/_q\/f\.js.*$/, "") : "";
  var captchas = {
    turnstile: ["https://challenges.cloudflare.com/turnstile/v0/api.js?render=explicit", "turnstile"],
    hcaptcha: ["https://js.hcaptcha.com/1/api.js?render=explicit", "hcaptcha"]
  };

  function each(list, f) { Array.prototype.forEach.call(list, f); }
  function visitor() {
    try { return localStorage.getItem("packetboat.id") || ""; } catch (e) { return ""; }
  }
  function request(url, options) {
    return fetch(url, options).then(function (r) {
      return r.json().catch(function () { return {}; }).then(function (body) { return { ok: r.ok, body: body }; });
    });
  }

  function start(form) {
    if (form.packetboat) return;
    form.packetboat = true;
    var slug = form.getAttribute("data-packetboat-form");
    var url = base + "/_q/f/" + slug;
    var status = form.querySelector(".packetboat-status");
    var button = form.querySelector("[type=submit]");
    var config = null, shown = 0, widget = null, busy = false;
    if (!status) {
      status = doc.createElement("p");
      status.className = "packetboat-status";
      status.setAttribute("role", "status");
      status.tabIndex = -1;
      form.appendChild(status);
    }
    form.noValidate = true;

    var query = new URLSearchParams(location.search);
    each(form.querySelectorAll("[data-param]"), function (input) {
      var v = query.get(input.getAttribute("data-param"));
      if (v !== null) input.value = v;
    });

    function load() {
      return request(url + "/config").then(function (r) {
        if (!r.ok) throw new Error("config");
        config = r.body;
        shown = Date.now();
        if (widget === null) captcha();
      });
    }

    function captcha() {
      var c = captchas[config.captcha.provider], place = form.querySelector(".packetboat-captcha");
      if (!c || !place) return;
      widget = undefined;
      function render() { widget = window[c[1]].render(place, { sitekey: config.captcha.site_key }); }
      if (window[c[1]]) return render();
      var script = doc.createElement("script");
      script.src = c[0];
      script.async = true;
      if (own && own.nonce) script.nonce = own.nonce;
      script.onload = function () {
        if (window[c[1]].ready) window[c[1]].ready(render); else render();
      };
      doc.head.appendChild(script);
    }

    function say(text, kind) {
      status.textContent = text;
      form.setAttribute("data-packetboat-state", kind);
    }

    function describe(input, id, on) {
      var ids = (input.getAttribute("aria-describedby") || "").split(" ").filter(function (x) { return x && x !== id; });
      if (on) ids.push(id);
      if (ids.length) input.setAttribute("aria-describedby", ids.join(" ")); else input.removeAttribute("aria-describedby");
    }

    function clear() {
      each(form.querySelectorAll(".packetboat-error"), function (e) { e.parentNode.removeChild(e); });
      each(form.querySelectorAll("[aria-invalid]"), function (input) {
        input.removeAttribute("aria-invalid");
        describe(input, errorID(input), false);
      });
    }

    function errorID(input) { return "pb-" + slug + "-error-" + input.name; }

    function mark(input, text) {
      var id = errorID(input), e = doc.createElement("span");
      e.className = "packetboat-error";
      e.id = id;
      e.textContent = text;
      input.setAttribute("aria-invalid", "true");
      describe(input, id, true);
      (input.closest(".packetboat-field") || form).appendChild(e);
    }

    function fail(problems) {
      var first = null, rest = [];
      problems.forEach(function (p) {
        var input = find(p[0]);
        if (!input) { rest.push(p[1]); return; }
        if (input.getAttribute("aria-invalid")) return;
        mark(input, p[1]);
        first = first || input;
      });
      say(rest.length ? rest.join(" ") : "Please correct the marked fields.", "error");
      (first || status).focus();
    }

    function find(path) {
      var name = path.replace(/^fields\./, "");
      return form.querySelector('[name="' + CSS.escape(name) + '"]') ||
        form.querySelector('[name="' + CSS.escape("custom_fields." + name) + '"]');
    }

    function check() {
      var problems = [], seen = {};
      each(form.elements, function (input) {
        if (!input.name || seen[input.name] || !input.willValidate || input.checkValidity()) return;
        seen[input.name] = true;
        problems.push([input.name, input.validationMessage]);
      });
      return problems;
    }

    function collect() {
      var body = { fields: {}, consents: {}, token: config.token, honeypot: "", page_url: location.href.split("#")[0], visitor_id: visitor() };
      each(form.elements, function (input) {
        var name = input.name, box = input.type === "checkbox";
        if (!name || input.disabled || input.type === "radio" && !input.checked) return;
        if (name === config.honeypot_field) body.honeypot = input.value;
        else if (name.indexOf("consents.") === 0) body.consents[name.slice(9)] = input.checked;
        else if (name === "cf-turnstile-response" || name === "h-captcha-response") body.captcha_token = input.value;
        else body.fields[name] = box ? input.checked : input.value;
      });
      return body;
    }

    function send(again) {
      var young = 2500 - (Date.now() - shown);
      return new Promise(function (done) { setTimeout(done, Math.max(0, young)); }).then(function () {
        return request(url, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(collect()) });
      }).then(function (r) {
        var e = r.body.error || {}, fields = e.details && e.details.fields || [];
        if (r.ok) {
          if (r.body.redirect_url) { location.assign(r.body.redirect_url); return; }
          form.reset();
          say(r.body.message, r.body.status);
          status.focus();
          form.dispatchEvent(new CustomEvent("packetboat:submitted", { bubbles: true, detail: { status: r.body.status } }));
          return load();
        }
        if (!again && fields.some(function (f) { return f.path === "token"; })) {
          return load().then(function () { return send(true); });
        }
        if (widget !== null && widget !== undefined) window[captchas[config.captcha.provider][1]].reset(widget);
        if (fields.length) return fail(fields.map(function (f) { return [f.path, f.message]; }));
        say(e.message || "This could not be sent. Please try again.", "error");
        status.focus();
      });
    }

    form.addEventListener("submit", function (event) {
      event.preventDefault();
      if (busy) return;
      clear();
      var problems = check();
      if (problems.length) return fail(problems);
      busy = true;
      if (button) button.setAttribute("aria-disabled", "true");
      say("Sending…", "sending");
      (config ? Promise.resolve() : load()).then(function () { return send(false); }).catch(function () {
        say("This could not be sent. Please try again.", "error");
        status.focus();
      }).then(function () {
        busy = false;
        if (button) button.removeAttribute("aria-disabled");
      });
    });
    load().catch(function () {});
  }

  function init() { each(doc.querySelectorAll("form[data-packetboat-form]"), start); }
  if (doc.readyState === "loading") doc.addEventListener("DOMContentLoaded", init); else init();
})();
