#!/usr/bin/env node
// `signalbox`. Plain JavaScript, and nothing is imported before the check, which is `engines` of
// package.json: a Node that is too old for the rest must get as far as the sentence.

const [major, minor] = process.versions.node.split('.').map(Number)

if (major > 22 || (major === 22 && minor >= 22)) await import('./signalbox.ts')
else {
  const message = `Node ${process.versions.node} is too old: Signalbox needs Node 22.22 or newer.`
  const isJson = / --log[= ]json\b/.test(process.argv.join(' '))
  const line = {
    time: new Date().toISOString(),
    level: 'error',
    event: 'signalbox.notice',
    message,
  }
  process.stderr.write(isJson ? `${JSON.stringify(line)}\n` : `signalbox: ${message}\n`)
  process.exitCode = 2
}
