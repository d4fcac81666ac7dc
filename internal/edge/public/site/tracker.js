// The script for websites of Packetboat's tenants. docs/website.md describes it.
//
// It is served without comments and indentation (stripScript), so every statement ends with its line
// or a semicolon, and no text spans lines.
(function () {
  'use strict';
  var win = window, doc = document, loc = location, tag = doc.currentScript;
  var stub = win.packetboat;
  if (!tag || stub && stub.v) return;
  var source = new URL(tag.src), key = source.searchParams.get('k');
  var asks = tag.getAttribute('data-consent') === 'required';
  var automatic = tag.getAttribute('data-auto') !== 'false';
  // With Global Privacy Control nothing is stored or sent, whatever is called.
  var refused = navigator.globalPrivacyControl === true;
  var idName = 'packetboat.id', choiceName = 'packetboat.consent';
  // Where localStorage is blocked, values last as long as the page.
  var memory = {}, waiting = [], queue = [], busy, shown, previous = doc.referrer;

  function read(name) {
    try { return localStorage.getItem(name) || memory[name]; } catch (e) { return memory[name]; }
  }
  function write(name, value) {
    memory[name] = value;
    try {
      if (value) localStorage.setItem(name, value); else localStorage.removeItem(name);
    } catch (e) { /* blocked */ }
  }
  function allowed() {
    var choice = read(choiceName);
    return !refused && choice !== 'denied' && (!asks || choice === 'granted');
  }
  function visitor() {
    var id = read(idName);
    if (!id) {
      id = Array.from(crypto.getRandomValues(new Uint8Array(16)), function (b) {
        return (b + 256).toString(16).slice(1);
      }).join('');
      write(idName, id);
    }
    return id;
  }

  // post sends a request of the queue. The type of the body is text, so that the browser asks for no
  // permission first, and no cookie is sent.
  function post(request) {
    return fetch(source.origin + '/_q/' + request[0], {
      method: 'POST', body: request[1], keepalive: true, credentials: 'omit', mode: 'cors', referrerPolicy: 'no-referrer'
    }).catch(function () {});
  }
  // next sends requests one after another, since requests at the same time can arrive in any order.
  function next() {
    if (busy || !queue.length) return;
    busy = true;
    post(queue.shift()).then(function () {
      busy = false;
      next();
    });
  }

  // send puts a request into the queue, or keeps it until the visitor has consented.
  function send(kind, body) {
    if (refused || read(choiceName) === 'denied') return;
    if (!allowed()) {
      if (waiting.length < 50) waiting.push([kind, body]);
      return;
    }
    body.site_key = key;
    body.visitor_id = visitor();
    queue.push([kind, JSON.stringify(body)]);
    next();
  }

  // page reports the page that is shown. The token of a click in a mail is removed from the address,
  // which may be copied.
  function page() {
    var url = loc.href, clean = new URL(url);
    shown = loc.pathname + loc.search;
    if (clean.searchParams.has('_ev')) {
      clean.search = clean.search.slice(1).split('&').filter(function (p) { return p.slice(0, 4) !== '_ev='; }).join('&');
      history.replaceState(history.state, '', clean.href);
      shown = loc.pathname + loc.search;
    }
    var zone;
    try { zone = Intl.DateTimeFormat().resolvedOptions().timeZone; } catch (e) { /* unknown */ }
    send('page', { url: url, title: doc.title, referrer: previous, timezone: zone });
    previous = clean.href;
  }
  // moved reports a page of a single-page application, whose title is set after its address.
  function moved() {
    setTimeout(function () {
      if (automatic && loc.pathname + loc.search !== shown) page();
    }, 0);
  }

  var commands = {
    page: page,
    identify: function (who, traits) {
      var body = typeof who === 'string' ? { email: who, traits: traits } : who || {};
      send('identify', {
        email: body.email, identity_token: body.identity_token, email_hash: body.email_hash, traits: body.traits
      });
    },
    event: function (name, properties, type) {
      send('event', { event_name: name, properties: properties, type: type });
    },
    // consent records the choice of the visitor: 'grant' or 'withdraw'.
    consent: function (choice) {
      if (choice === 'grant' && !refused) {
        write(choiceName, 'granted');
        waiting.splice(0).forEach(function (w) { send(w[0], w[1]); });
      } else if (choice === 'withdraw') {
        waiting = [];
        queue = [];
        write(choiceName, 'denied');
        write(idName);
      }
    },
    // reset makes the browser a new visitor, as after signing out.
    reset: function () { write(idName); }
  };
  function call(args) {
    var command = commands[args[0]];
    if (command) command.apply(null, Array.prototype.slice.call(args, 1));
  }
  win.packetboat = function () { call(arguments); };
  win.packetboat.v = 1;

  function start() {
    if (automatic) page();
    (stub && stub.q || []).forEach(call);
    ['pushState', 'replaceState'].forEach(function (name) {
      var original = history[name];
      history[name] = function () {
        var result = original.apply(this, arguments);
        moved();
        return result;
      };
    });
    win.addEventListener('popstate', moved);
    // Nothing waits for an answer when the page is left.
    win.addEventListener('pagehide', function () { queue.splice(0).forEach(post); });
  }
  // A page that the browser loads ahead counts when it is shown.
  if (doc.prerendering) doc.addEventListener('prerenderingchange', start, { once: true }); else start();
})();
