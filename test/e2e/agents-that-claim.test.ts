// Agents that know nothing but the loop of docs/agents.md, on one board, while some are killed.

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { BACKLOG_CONFIG, backlogTask } from '../support/agents/backlog-agent.ts'
import { oneProcess, Starts } from '../support/local-system.ts'
import { programEnv } from '../support/run-home.ts'

const starts = new Starts()
const scripts: ChildProcess[] = []
afterAll(async () => {
  for (const script of scripts) if (script.pid) kill(script)
  await starts.clear()
})

/** With what it runs: a killed agent takes its tools along. */
function kill({ pid = 0 }: ChildProcess): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

const AGENTS = 6
const TASKS = 24
const [, LOOP = ''] = /```sh\n(while.*?)```/s.exec(readFileSync('docs/agents.md', 'utf8')) ?? []

/** How a tool's task is closed; a second time it says so. */
interface Tool {
  files: Readonly<Record<string, string>>
  /** A shell function: closes "$1". */
  close: string
  /** Of the texts of all files, those tasks that are open. */
  open(texts: readonly string[]): number
}

const numbers = Array.from({ length: TASKS }, (_, n) => n + 1)
const TOOLS: Record<string, Tool> = {
  'Backlog.md': {
    files: {
      'backlog/config.yml': BACKLOG_CONFIG,
      ...Object.fromEntries(
        numbers.map((n) => [
          `backlog/tasks/back-${n} - Bread.md`,
          backlogTask(`BACK-${n}`, 'Bread', 'To Do'),
        ]),
      ),
    },
    close: `
      file="backlog/tasks/back-\${1#BACK-} - Bread.md"
      grep -q 'status: Done' "$file" && echo "twice $1" >> done.log
      sed 's/^status: .*/status: Done/' "$file" > ".$1.new" && mv ".$1.new" "$file"`,
    open: (texts) => texts.filter((text) => text.includes('status: To Do')).length,
  },
  // One file for all: whoever edits it takes a lock, as a person would look at it first.
  OpenSpec: {
    files: {
      'openspec/changes/tea/tasks.md': numbers.map((n) => `- [ ] 1.${n} Pour\n`).join(''),
    },
    close: `
      file=openspec/changes/tea/tasks.md
      while ! mkdir .edit 2>/dev/null; do sleep 0.05; done
      grep -q "\\[x\\] \${1#tea/} " "$file" && echo "twice $1" >> done.log
      sed "s|\\[ \\] \${1#tea/} |[x] \${1#tea/} |" "$file" > .new && mv .new "$file"
      rmdir .edit`,
    open: (texts) => texts.join('').split('- [ ]').length - 1,
  },
}

describe.each(Object.entries(TOOLS))('agents on a board of %s', (_, tool) => {
  it('do each task once and leave none, though some are killed while they work', async () => {
    const dir = await starts.folder()
    for (const [name, text] of Object.entries(tool.files)) {
      mkdirSync(dirname(join(dir, name)), { recursive: true })
      writeFileSync(join(dir, name), text)
    }
    const system = await (await starts.start({ launch: oneProcess, storeDir: dir })).ready()
    const own = scripts.length
    const agent = () => {
      const signalbox = `"${process.execPath}" "${resolve('cli/bin.js')}"`
      const script = `
        signalbox() { command=$1; shift; ${signalbox} "$command" --data "${system.dataDir}" "$@"; }
        do_the_work() { echo "begun $1" >> done.log; sleep 0.2; ${tool.close}
        echo "done $1" >> done.log; }
        ${LOOP.replace('8m', '12s')}`
      const env = programEnv(process.env.HOME ?? '')
      const options = { cwd: dir, env, detached: true, stdio: 'ignore' } as const
      const child = spawn('/bin/sh', ['-c', script], options)
      scripts.push(child)
      return child
    }
    const logged = async (what: string) =>
      (await readFile(join(dir, 'done.log'), 'utf8').catch(() => ''))
        .split('\n')
        .filter((line) => line.startsWith(what))
    const open = async () => {
      const names = await readdir(dir, { recursive: true })
      const files = names.filter((name) => name in tool.files)
      return tool.open(await Promise.all(files.map((name) => readFile(join(dir, name), 'utf8'))))
    }
    for (let n = 0; n < AGENTS; n++) agent()
    // Killed in its work, if it is at one: the lock of an editor would stay with it.
    for (const least of [6, 12]) {
      await expect.poll(async () => (await logged('done')).length).toBeGreaterThanOrEqual(least)
      const victim = scripts[own + least / 6]
      if (victim && tool === TOOLS['Backlog.md']) kill(victim)
      agent()
    }
    await expect.poll(open, { timeout: 100_000 }).toBe(0)
    expect(await logged('twice')).toEqual([])
    const begun = new Set((await logged('begun')).map((line) => line.split(' ')[1]))
    expect(begun.size).toBe(TASKS)
  })
})
