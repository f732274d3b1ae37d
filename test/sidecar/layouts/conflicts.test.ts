// What a merge left unresolved, in any file of any layout.

import { basename } from 'node:path'
import { describe, expect, test } from 'vitest'
import { conflictLine } from '../../../sidecar/layouts/text.ts'
import { listedBoard } from '../../support/listed-board.ts'
import { makeFolder } from '../../support/temp-folder.ts'

const conflict = (ours: string, theirs: string, eol = '\n') =>
  ['<<<<<<< HEAD', ours, '=======', theirs, '>>>>>>> other', ''].join(eol)

const task = (id: string, status: string) =>
  `---\nid: ${id}\ntitle: Brew ${id}\nstatus: ${status}\n---\nWater.\n`

/** A board with a task that could begin. */
const WHOLE: Record<string, Record<string, string>> = {
  cairn: {
    '.cairn/config.yaml': 'prefix: T\nstates: [todo, done]\nclosed: [done]\n',
    '.cairn/tasks/T-1.md': task('T-1', 'todo'),
    '.cairn/tasks/T-2.md': task('T-2', 'done'),
  },
  'backlog-md': {
    'backlog/config.yml': 'project_name: Tea\nstatuses: [To Do, Done]\n',
    'backlog/tasks/task-1 - Brew-TASK-1.md': task('TASK-1', 'To Do'),
    'backlog/tasks/task-2 - Brew-TASK-2.md': task('TASK-2', 'Done'),
  },
  'task-master': {
    '.taskmaster/tasks/tasks.json':
      '{\n"master": {\n"tasks": [\n{"id": 1, "title": "Brew", "status": "pending"}\n]}}\n',
  },
  openspec: {
    'openspec/changes/brew/proposal.md': '# Brew\n',
    'openspec/changes/brew/tasks.md': '## 1. Tea\n- [ ] 1.1 Boil\n- [x] 1.2 Fill\n',
  },
  kiro: {
    '.kiro/specs/brew/tasks.md': '# Tea\n- [ ] 1. Boil\n- [x] 2. Fill\n',
  },
  'spec-kit': {
    '.specify/x': '',
    'specs/001-brew/tasks.md': '## Phase 1: Tea\n- [ ] T001 Boil\n- [x] T002 Fill\n',
  },
  bmad: {
    '_bmad/_config/manifest.yaml': '',
    '_bmad-output/implementation-artifacts/sprint-status.yaml':
      'development_status:\n  epic-1: backlog\n  1-1-boil: ready-for-dev\n',
    '_bmad-output/implementation-artifacts/1-1-boil.md': '# Story 1.1: Boil\n\nStatus: review\n',
  },
}

const files = Object.entries(WHOLE).flatMap(([layout, whole]) =>
  Object.keys(whole)
    .filter((path) => !/manifest|\.specify/.test(path))
    .map((path): [string, string] => [layout, path]),
)

describe('conflict markers', () => {
  test.each(Object.keys(WHOLE))('are in no file of a whole board of %s', async (layout) => {
    const { tasks } = await listedBoard(makeFolder(WHOLE[layout]))
    expect(tasks.filter(({ invalid }) => invalid !== undefined)).toEqual([])
    expect(tasks.filter(({ ready }) => ready)).toHaveLength(1)
  })

  test.each(files)(
    'on a board of %s are named with the file and the line: %s',
    async (layout, path) => {
      const whole = WHOLE[layout]?.[path] ?? ''
      const [first = '', ...lines] = whole.split('\n')
      for (const eol of ['\n', '\r\n']) {
        const changed = [first, conflict(lines.join(eol), lines.join(eol), eol)].join(eol)
        const { tasks, config } = await listedBoard(
          makeFolder({ ...WHOLE[layout], [path]: changed }),
        )
        const says = [config?.invalid, ...tasks.map(({ invalid }) => invalid)]
        expect(says).toContainEqual(
          expect.stringContaining(`${basename(path)} has conflict markers, from line 2 on`),
        )
        const isOfAll = config?.invalid !== undefined || basename(path) === 'tasks.md'
        const ready = tasks.filter((task) => task.ready)
        if (isOfAll) expect(ready).toEqual([])
        for (const { invalid } of ready) expect(invalid).toBeUndefined()
      }
    },
  )

  test('are found half removed, and below the front matter', async () => {
    const text = `${task('T-1', 'todo')}More.\n>>>>>>> other\n`
    const { tasks } = await listedBoard(makeFolder({ ...WHOLE.cairn, '.cairn/tasks/T-1.md': text }))
    expect(tasks.find(({ id }) => id === 'T-1')).toMatchObject({
      title: 'Brew T-1',
      ready: false,
      invalid: 'T-1.md has conflict markers, from line 8 on.',
    })
  })

  test.each([
    ['an underlined heading', 'Tea\n=======\n'],
    ['an arrow', '<<<<<<<- that way\n'],
    ['a quote in a quote', '> >>>>>>> deep\n'],
    ['an example in a code fence', '```\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> b\n```\n'],
    ['an indented example', '    <<<<<<< HEAD\n'],
  ])('are not %s', (_, text) => {
    expect(conflictLine(text, { hasFences: true })).toBeUndefined()
  })

  test('in a run’s log are what a program printed', async () => {
    const log = `cmd: git diff\nexit: 0  timedout: false  duration: 1s\n----\n${conflict('a', 'b')}`
    const dir = makeFolder({
      ...WHOLE.cairn,
      '.cairn/runs/T-1-20260101-000000.000.log': log,
    })
    const { tasks } = await listedBoard(dir)
    expect(tasks.filter(({ invalid }) => invalid !== undefined)).toEqual([])
  })
})
