// Task Master for many calls in one process, since its start takes seconds of a processor. Each line of
// standard input is a call, `{"args": […], "dir": "…"}`, and each of standard output what it printed.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'

const [, , dist = ''] = process.argv
// What its own program imports, and calls with its arguments.
const program = readFileSync(join(dist, 'task-master.js'), 'utf8')
const [, commands = ''] = /import\(`\.\/(commands-[^`]+)`\)/.exec(program) ?? []
const { runCLI } = await import(pathToFileURL(join(dist, commands)).href)

const write = process.stdout.write.bind(process.stdout)
for await (const line of createInterface({ input: process.stdin })) {
  const { args, dir } = JSON.parse(line)
  process.chdir(dir)
  let out = ''
  process.stdout.write = (text) => {
    out += text
    return true
  }
  await runCLI([process.execPath, 'task-master', ...args])
  process.stdout.write = write
  write(`${JSON.stringify(out)}\n`)
}
