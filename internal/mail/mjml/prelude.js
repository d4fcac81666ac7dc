// What the compiler finds around it: a browser's window, a silent console, and
// random numbers that begin anew with every document. The reference documents
// are made with the same numbers (scripts/mjml-reference).
var packetboat = (function (global) {
  var state = 0
  var mjml
  var silent = function () {}
  global.window = global.self = global
  global.console = { log: silent, info: silent, warn: silent, error: silent }
  Math.random = function () {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 4294967296
  }
  return {
    begin: function () {
      state = 1
    },
    // seal is called when the compiler is read: from then on no document can
    // change what the next one is compiled with.
    seal: function () {
      mjml = global.mjml
      Object.getOwnPropertyNames(global).forEach(function (name) {
        var value = global[name]
        if (typeof value !== 'function') return
        if (value.prototype) Object.freeze(value.prototype)
        Object.freeze(value)
      })
      Object.freeze(Math)
      Object.freeze(JSON)
      Object.freeze(global)
    },
    compile: function (source) {
      packetboat.begin()
      var result = mjml(source, { validationLevel: 'soft' })
      return JSON.stringify({
        html: result.html,
        findings: result.errors.map(function (e) {
          return { line: e.line, tag: e.tagName, message: e.message }
        }),
      })
    },
  }
})(globalThis)
