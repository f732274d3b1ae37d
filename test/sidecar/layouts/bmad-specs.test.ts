import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { Board } from '../../../sidecar/board/board.ts'
import { FileReader } from '../../../sidecar/files/file-reader.ts'
import type { Store } from '../../../sidecar/layouts/layout.ts'
import { whyFewer } from '../../../sidecar/layouts/layout.ts'
import { openStore } from '../../../sidecar/layouts/registry.ts'
import type { Task } from '../../../worker/board/wire.ts'
import { hostClock } from '../../../worker/shared/clock.ts'
import { listedStore } from '../../support/listed-board.ts'
import { makeFolder } from '../../support/temp-folder.ts'

const MARK = { '_bmad/_config/manifest.yaml': 'modules: []\n' }
const SPEC = '_bmad-output/specs/spec-tea'
const LIST = `${SPEC}/stories.yaml`
const SPRINT = '_bmad-output/implementation-artifacts/sprint-status.yaml'

const STATES = 'backlog draft ready-for-dev in-progress in-review blocked done'.split(' ')

/** As the tool's own example has it. */
const STORIES = `- id: "1"
  title: Fill the kettle
  description: >-
    Take fresh water;
    see "Capabilities" in SPEC.md.
  spec_checkpoint: true
  invoke_dev_with: >-
    Use the copper kettle.
- id: "2"
  title: Heat it
  description: Until it boils.
`
const listOf = (...ids: string[]) =>
  ids.map((id) => `- id: "${id}"\n  title: Story ${id}\n  description: It\n`).join('')
/** As the tool's template has it. */
const story = (status: string, title = 'Another title') =>
  `---\ntitle: '${title}'\ntype: 'feature' # feature | bugfix\nstatus: '${status}' # draft | …\ndeferred: []\n---\n\n## Intent\n`

async function listed(files: Record<string, string>) {
  const store = await openStore(makeFolder({ ...MARK, ...files }))
  const { tasks, config } = await listedStore(store)
  const byId = Object.fromEntries(tasks.map((task): [string, Task] => [task.id, task]))
  return { byId, config, store }
}

describe('a spec folder of BMAD', () => {
  test('is a task, and its stories are its parts, in the order of the list', async () => {
    const { byId, config, store } = await listed({
      [`${SPEC}/SPEC.md`]: '---\nid: SPEC-tea\n---\n\n# Tea for two\n\n## Why\n',
      [LIST]: STORIES,
      [`${SPEC}/stories/2-heat-it.md`]: story('in-progress'),
      [`${SPEC}/RETROSPECTIVE.md`]: '# Retrospective\n',
    })
    expect(config).toEqual({
      layout: 'bmad',
      states: ['backlog', 'draft', 'ready-for-dev', 'in-progress', 'in-review', 'blocked', 'done'],
      closed: ['done'],
      initial: 'backlog',
    })
    expect(byId).toEqual({
      'spec-tea': {
        id: 'spec-tea',
        title: 'Tea for two',
        status: 'backlog',
        type: 'epic',
        ready: false,
        held: true,
        file: LIST,
        body: '---\nid: SPEC-tea\n---\n\n# Tea for two\n\n## Why\n',
      },
      'spec-tea/1': {
        id: 'spec-tea/1',
        title: 'Fill the kettle',
        status: 'backlog',
        type: 'story',
        parent: 'spec-tea',
        rank: 1,
        ready: true,
        file: LIST,
        body: 'Take fresh water; see "Capabilities" in SPEC.md.',
        extra: { spec_checkpoint: true, invoke_dev_with: 'Use the copper kettle.' },
      },
      'spec-tea/2': {
        id: 'spec-tea/2',
        title: 'Heat it',
        status: 'in-progress',
        type: 'story',
        parent: 'spec-tea',
        rank: 2,
        ready: true,
        file: `${SPEC}/stories/2-heat-it.md`,
        body: '\n## Intent\n',
      },
    })
    expect(whyFewer(store, 3)).toBeUndefined()
  })

  test.each([
    ['draft', { ready: true }],
    ['ready-for-dev', { ready: true }],
    ['in-review', { ready: true }],
    ['blocked', { ready: false, held: true }],
    ['done', { ready: false }],
    ['backlog', { ready: false, invalid: 'No story has the status "backlog".' }],
    ['', { ready: false, invalid: 'No story has the status "".' }],
  ])('has the status %j of a story’s file', async (status, more) => {
    const { byId } = await listed({
      [LIST]: listOf('1'),
      [`${SPEC}/stories/1-fill.md`]: story(status),
    })
    expect(byId['spec-tea/1']).toMatchObject({ title: 'Story 1', status, ...more })
  })

  test('finds of each file the story that the list has', async () => {
    const ids = ['2', '3-1', '3-2', '3-2024', 'auth']
    const files = ['2-2024-tea', '3-1-1-tea', '3-2-2024-tea', '3-2024-tea', 'auth-3-2-tea']
    const none = ['3-tea', '4-tea', '2', '20-tea', 'notes']
    const { byId } = await listed({
      [LIST]: listOf(...ids),
      ...Object.fromEntries(
        [...files, ...none].map((it) => [`${SPEC}/stories/${it}.md`, story('done')]),
      ),
    })
    const found = ids.map((id, at) => [`spec-tea/${id}`, `${SPEC}/stories/${files[at]}.md`])
    const { 'spec-tea': _, ...stories } = byId
    expect(Object.values(stories).map(({ id, file }) => [id, file])).toEqual(
      expect.arrayContaining(found),
    )
    expect(Object.keys(stories)).toHaveLength(ids.length)
  })

  test('says which stories nobody can tell apart', async () => {
    const { byId } = await listed({
      [LIST]: `${listOf('1', '1', '3', '3-2', 'a/b')}- title: None\n- just text\n`,
      [`${SPEC}/stories/2-a.md`]: story('done'),
    })
    const whys = Object.values(byId).map(({ id, invalid, ready }) => [id, ready, invalid])
    expect(whys.sort()).toEqual([
      ['spec-tea', false, 'stories.yaml was not read whole: an entry is no story with an id.'],
      ['spec-tea/1', false, 'Several stories of stories.yaml have the id "1".'],
      ['spec-tea/3', false, 'A file of the story "3" may be of the story "3-2", too.'],
      ['spec-tea/3-2', false, 'A file of the story "3-2" may be of the story "3", too.'],
      ['spec-tea/a/b', false, 'The id of a story has letters, digits and dashes only.'],
    ])
  })

  test('lists two files of one story, of which nobody knows which is meant', async () => {
    const { byId } = await listed({
      [LIST]: listOf('1'),
      [`${SPEC}/stories/1-fill.md`]: story('done'),
      [`${SPEC}/stories/1-pour.md`]: story('draft'),
    })
    expect(byId['spec-tea/1']?.status).toBe('done')
    expect(byId['spec-tea/1~2']?.invalid).toMatch(/^another file has the id spec-tea\/1: /)
  })

  test.each([
    [
      'half a file',
      '- id: "1"\n  title: "Fi',
      /^stories\.yaml: The file is not valid YAML: line 2: /,
    ],
    ['a map', 'stories: 1\n', /^stories\.yaml: The file is /],
    ['text', 'Soon.\n', /^stories\.yaml: The file is /],
    ['nothing', '\n', /^stories\.yaml: The file is empty\./],
  ])('says what is wrong with %s', async (_, text, why) => {
    const { byId, config } = await listed({ [LIST]: text, [`${SPEC}/SPEC.md`]: '# Tea\n' })
    expect(byId).toMatchObject({ 'spec-tea': { title: 'Tea', held: true } })
    expect(byId['spec-tea']?.invalid).toMatch(why)
    expect(config?.invalid).toBeUndefined()
  })

  test('may begin its list as a document of YAML', async () => {
    const { byId } = await listed({
      [LIST]: `# Ours\r\n---\r\n${listOf('1').replaceAll('\n', '\r\n')}`,
    })
    expect(Object.keys(byId)).toEqual(['spec-tea', 'spec-tea/1'])
  })
})

describe('beside a sprint', () => {
  test('stories of specs are listed, and the sprint has the configuration', async () => {
    const { byId, config } = await listed({
      [SPRINT]: 'project: tea\ndevelopment_status:\n  1-1-a: done\n',
      [LIST]: listOf('1'),
    })
    expect(new Set(Object.keys(byId))).toEqual(new Set(['1-1-a', 'spec-tea', 'spec-tea/1']))
    expect(config).toMatchObject({ project: 'tea' })
    expect(config?.states).not.toContain('draft')
  })

  test.each([
    ['specs of the output folder', '{project-root}/out', 'out/specs/spec-tea'],
    ['specs of the project', '{project-root}', 'specs/spec-tea'],
    ['the folder of plans', '{project-root}/out', 'plans/spec-tea'],
    ['the folder of plans, by itself', undefined, '_bmad-output/planning-artifacts/spec-tea'],
    ['the folder of the sprint', '{project-root}/out', 'sprint/spec-tea'],
  ])('specs are where the configuration has them: %s', async (_, output, spec) => {
    const config = `output_folder: "${output}"
planning_artifacts: "{project-root}/plans"
implementation_artifacts: "{project-root}/sprint"
`
    const { byId } = await listed({
      '_bmad/bmm/config.yaml': output === undefined ? '' : config,
      'sprint/sprint-status.yaml': 'development_status:\n  1-1-a: done\n',
      [`${spec}/stories.yaml`]: listOf('1'),
      [`${spec}/stories/1-fill.md`]: story('done'),
    })
    expect(byId['spec-tea/1']).toMatchObject({ status: 'done', parent: 'spec-tea' })
  })

  test('a place of specs that is a link, or is outside of the project, is left out', async () => {
    const elsewhere = makeFolder({ 'spec-tea/stories.yaml': listOf('1') })
    const dir = makeFolder({
      'tea/_bmad/_config/manifest.yaml': '',
      'tea/_bmad/bmm/config.yaml': 'output_folder: "{project-root}/.."\n',
      [`tea/${SPRINT}`]: 'development_status:\n  1-1-a: done\n',
      'specs/spec-tea/stories.yaml': listOf('1'),
    })
    symlinkSync(elsewhere, join(dir, 'tea/_bmad-output/specs'))
    const { tasks } = await listedStore(await openStore(join(dir, 'tea')))
    expect(tasks.map(({ id }) => id)).toEqual(['1-1-a'])
  })
})

describe('while files come and go', () => {
  /** What the board says after each step; null: the file is gone. */
  async function opened(files: Record<string, string> = {}) {
    const store: Store = await openStore(makeFolder({ ...MARK, ...files }))
    const { read } = new FileReader({ store, clock: hostClock, runOutput: 'masked' })
    const board = new Board(store, read)
    const take = (name: string, text: string | null) => {
      const path = join(store.root, name)
      mkdirSync(dirname(path), { recursive: true })
      if (text === null) rmSync(path)
      else writeFileSync(path, text)
      const state = text === null ? undefined : read(path)
      board.ingest(path, state?.state === 'parsed' ? state.file : null)
    }
    const keys = new Set<string>()
    const shown = async () => {
      for (const key of board.takeChanged(0)) keys.add(key)
      const rows: Record<string, unknown> = {}
      for (const key of keys) {
        const record = await board.read(key as 'board:board')
        if (record?.kind === 'task') rows[record.id] = record.task.status
        if (record?.kind === 'board') rows['(invalid)'] = record.board.invalid
      }
      return JSON.parse(JSON.stringify(rows))
    }
    return { store, board, take, shown }
  }
  const [FIRST, SECOND] = [`${SPEC}/stories/1-1-fill.md`, `${SPEC}/stories/1-2-heat.md`]
  const MISSING =
    'There is no sprint-status.yaml in _bmad-output/implementation-artifacts, the folder named by the tool by itself.'

  test('a file of a story counts once the list has it, in whatever order they come', async () => {
    const { take, shown, board } = await opened()
    take(FIRST, story('done'))
    expect(await shown()).toEqual({ '(invalid)': MISSING })
    expect(board.countTasks()).toBe(0)
    take(LIST, listOf('1-1', '1-2'))
    expect(await shown()).toEqual({
      'spec-tea': 'backlog',
      'spec-tea/1-1': 'done',
      'spec-tea/1-2': 'backlog',
    })
    expect(board.summary().counts).toEqual({ tasks: 3, closed: 1, ready: 1 })
    take(SECOND, story('draft'))
    take(LIST, listOf('1-2'))
    expect(await shown()).toEqual({ 'spec-tea': 'backlog', 'spec-tea/1-2': 'draft' })
    expect(board.countTasks()).toBe(2)
    take(SECOND, null)
    expect(await shown()).toEqual({ 'spec-tea': 'backlog', 'spec-tea/1-2': 'backlog' })
    take(LIST, listOf('1'))
    expect(await shown()).toEqual({ 'spec-tea': 'backlog', 'spec-tea/1': 'done' })
    take(LIST, null)
    expect(await shown()).toEqual({ '(invalid)': MISSING })
    expect(board.countTasks()).toBe(0)
  })

  test('a list that cannot be read leaves its stories as they were, and others ready', async () => {
    const { take, board } = await opened()
    take(LIST, listOf('1', '2'))
    take(`${SPEC}/stories/1-fill.md`, story('done'))
    board.takeChanged(0)
    const { counts } = board.summary()
    expect(counts).toEqual({ tasks: 3, closed: 1, ready: 1 })
    take(LIST, '- id: "1\n')
    expect(board.takeChanged(0)).toEqual(['task:spec-tea'])
    expect(board.summary().counts).toEqual(counts)
    expect(await board.read('board:board')).toMatchObject({ board: { states: STATES } })
  })

  test('a folder of specs that goes away is missing, and no empty board', async () => {
    const { store } = await opened({ [LIST]: listOf('1') })
    expect(store.tasksIn).toBe(join(store.root, '_bmad-output/specs'))
    expect(store.board).not.toHaveProperty('invalid')
    expect(store.folders()).not.toContain(join(store.root, SPEC, 'stories'))
    mkdirSync(join(store.root, SPEC, 'stories'))
    expect(store.folders()).toContain(join(store.root, SPEC, 'stories'))
  })
})
