// What the compiler finds around it: a browser's window, a silent console, and
// random numbers that begin anew with every document. The reference documents
// are made with the same numbers (scripts/mjml-reference).
var packetboat = (function (global) {
  var state = 0
  global.window = global.self = global
  var silent = function () {}
  global.console = { log: silent, info: silent, warn: silent, error: silent }
  Math.random = function () {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 4294967296
  }
  return {
    begin: function () {
      state = 1
    },
    compile: function (source) {
      packetboat.begin()
      var result = global.mjml(source, { validationLevel: 'soft' })
      return JSON.stringify({
        html: result.html,
        findings: result.errors.map(function (e) {
          return { line: e.line, tag: e.tagName, message: e.message }
        }),
      })
    },
  }
})(globalThis)
