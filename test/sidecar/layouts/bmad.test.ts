import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { Board } from '../../../sidecar/board/board.ts'
import { discoverBoards } from '../../../sidecar/boards/discover.ts'
import { FileReader } from '../../../sidecar/files/file-reader.ts'
import { openStore } from '../../../sidecar/layouts/registry.ts'
import type { Task } from '../../../worker/board/wire.ts'
import { hostClock } from '../../../worker/shared/clock.ts'
import { listedBoard } from '../../support/listed-board.ts'
import { makeFolder } from '../../support/temp-folder.ts'

const OUT = '_bmad-output/implementation-artifacts'
const MARK = { '_bmad/_config/manifest.yaml': 'modules: []\n' }

async function listed(statuses: string, files: Record<string, string> = {}) {
  const dir = makeFolder({ ...MARK, [`${OUT}/sprint-status.yaml`]: statuses, ...files })
  const { tasks, config } = await listedBoard(dir)
  return { byId: Object.fromEntries(tasks.map((task): [string, Task] => [task.id, task])), config }
}

const statusesOf = (...lines: string[]) => `development_status:\n  ${lines.join('\n  ')}\n`

describe('a board of BMAD', () => {
  test('has epics, their stories with the texts of their files, and retrospectives', async () => {
    const { byId, config } = await listed(
      statusesOf(
        '# Epic 1: Hot drinks',
        'epic-1: in-progress',
        '1-1-fill-the-kettle: done',
        '1-2a-heat-it: ready-for-dev  # soon',
        'epic-1-retrospective: optional',
      ),
      { [`${OUT}/1-1-fill-the-kettle.md`]: '# Story 1.1: Fill the kettle\n\nStatus: review\n' },
    )
    expect(config).toEqual({
      layout: 'bmad',
      states: ['backlog', 'ready-for-dev', 'in-progress', 'review', 'done'],
      closed: ['done'],
      initial: 'backlog',
    })
    const file = `${OUT}/sprint-status.yaml`
    expect(byId).toEqual({
      'epic-1': {
        id: 'epic-1',
        title: 'Hot drinks',
        status: 'in-progress',
        type: 'epic',
        rank: 1_000_000,
        ready: false,
        held: true,
        file,
      },
      '1-1-fill-the-kettle': {
        id: '1-1-fill-the-kettle',
        title: 'Fill the kettle',
        // Its file says review: the YAML leads.
        status: 'done',
        type: 'story',
        parent: 'epic-1',
        rank: 1_000_100,
        ready: false,
        file,
        body: '# Story 1.1: Fill the kettle\n\nStatus: review\n',
      },
      '1-2a-heat-it': {
        id: '1-2a-heat-it',
        title: 'Heat it',
        status: 'ready-for-dev',
        type: 'story',
        parent: 'epic-1',
        rank: 1_000_201,
        ready: true,
        file,
      },
      'epic-1-retrospective': {
        id: 'epic-1-retrospective',
        title: 'Epic 1 retrospective',
        status: 'optional',
        type: 'retrospective',
        parent: 'epic-1',
        rank: 1_999_999,
        optional: true,
        ready: false,
        held: true,
        file,
      },
    })
  })

  test('takes the statuses of older versions for what they are now', async () => {
    const { byId } = await listed(statusesOf('1-1-a: drafted', 'epic-1: contexted'))
    expect(byId).toMatchObject({
      '1-1-a': { status: 'ready-for-dev' },
      'epic-1': { status: 'in-progress' },
    })
  })

  test('lists what is strange, says why, and hides nothing else', async () => {
    const { byId } = await listed(
      statusesOf('epic-1: review', '1-1-a: doing', '1-2-b: {x: 1}', 'notes: done', '1-3-c: done'),
      {
        [`${OUT}/1-9-z.md`]: '# Story 1.9: Z\n\nStatus: done\n',
        [`${OUT}/1-8-y.md`]: 'Decision.\n',
      },
    )
    const whys = Object.values(byId).map(({ id, status, invalid }) => [id, status, invalid])
    expect(whys).toEqual(
      expect.arrayContaining([
        ['epic-1', 'review', 'No epic has the status "review".'],
        ['1-1-a', 'doing', 'No story has the status "doing".'],
        ['1-2-b', '', 'No story has the status "".'],
        ['notes', 'done', 'The key names no epic, story or retrospective.'],
        ['1-3-c', 'done', undefined],
        ['1-9-z', '', 'sprint-status.yaml names no such story.'],
      ]),
    )
    expect(whys).toHaveLength(6)
  })

  test('has the action items of an epic beside it', async () => {
    const { byId } = await listed(
      `${statusesOf('epic-1: done', 'epic-2: done')}action_items:\n  - epic: 2\n    action: Rest\n    status: open\n`,
    )
    expect(byId['epic-1']).not.toHaveProperty('extra')
    expect(byId['epic-2']?.extra).toEqual({
      action_items: [{ epic: 2, action: 'Rest', status: 'open' }],
    })
  })

  test.each([
    ['half a file', 'development_status:\n  "1-1-a: do', 'is not valid YAML'],
    ['no statuses', 'project: tea\n', 'has no map "development_status"'],
    ['a list', '- a\n', 'is not valid YAML'],
  ])('says what is wrong with %s, and keeps the stories that have files', async (_, text, why) => {
    const story = { [`${OUT}/1-1-a.md`]: '# Story 1.1: A\n\nStatus: done\n' }
    const { byId, config } = await listed(text, story)
    expect(config?.invalid).toContain(why)
    expect(config?.invalid).toContain('its tasks stay as they were last read.')
    expect(byId['1-1-a']).toMatchObject({ title: 'A', ready: false })
  })

  test('is in the folder that its configuration names, if that is in the project', async () => {
    const rootOf = async (named: string) => {
      const config = { '_bmad/bmm/config.yaml': `implementation_artifacts: "${named}"\n` }
      const dir = makeFolder({ ...MARK, ...config })
      return (await openStore(dir)).tasksIn.slice(dir.length + 1)
    }
    expect(await rootOf('{project-root}/docs/sprint')).toBe('docs/sprint/sprint-status.yaml')
    expect(await rootOf('docs/sprint')).toBe('docs/sprint/sprint-status.yaml')
    for (const outside of ['../elsewhere', '/etc', '{project-root}', '{project-root}/../x']) {
      expect(await rootOf(outside)).toBe(`${OUT}/sprint-status.yaml`)
    }
  })

  test.each([
    ['bmad', 'bmad/bmm/config.yaml', `${OUT}/sprint_status.yaml`],
    ['.bmad-core', '.bmad-core/core-config.yaml', `${OUT}/sprint-status.yaml`],
  ])('of an older version is marked by %s and its status file', async (_, mark, file) => {
    const dir = makeFolder({ [mark]: '', [file]: statusesOf('epic-1: done') })
    expect(await openStore(dir)).toMatchObject({ layout: 'bmad', tasksIn: join(dir, file) })
    await expect(openStore(makeFolder({ [mark]: '' }))).rejects.toMatchObject({ code: 'no_board' })
  })

  const SPRINT = statusesOf(
    'epic-1: contexted',
    '1-1-fill: drafted',
    '1-2-heat: backlog',
    'epic-1-retrospective: completed',
    'epic-2-retrospective: drafted',
  )

  test.each([
    ['.bmad', "sprint_artifacts: '{project-root}/docs/sprint-artifacts'", 'docs/sprint-artifacts'],
    ['bmad', "sprint_artifacts: '{project-root}/docs/sprint-artifacts'", 'docs/sprint-artifacts'],
    ['.bmad', "output_folder: '{project-root}/docs'", 'docs'],
    ['bmad', "output_folder: '{project-root}/docs'", 'docs'],
    ['bmad', 'output_folder: docs\nsprint_artifacts: "{output_folder}/sprints"', 'docs/sprints'],
    ['_bmad', 'output_folder: docs\nsprint_artifacts: docs/sprints', 'docs'],
    ['_bmad', 'sprint_artifacts: ../x\noutput_folder: docs', 'docs'],
  ])('of version 6 alpha is found in %s, with %j', async (tool, config, folder) => {
    const dir = makeFolder({
      [`${tool}/_cfg/manifest.yaml`]: 'modules: []\n',
      [`${tool}/bmm/config.yaml`]: `# BMM\nproject_name: tea\n${config}\n`,
      [`${folder}/sprint-status.yaml`]: SPRINT,
      [`${folder}/1-1-fill.md`]: '# Story 1.1: Fill it\n\nStatus: drafted\n',
    })
    const { boards, leftOut } = await discoverBoards([dir])
    expect(leftOut).toEqual([])
    expect(boards.map(({ store }) => store.tasksIn)).toEqual([
      join(dir, folder, 'sprint-status.yaml'),
    ])
    const { tasks, config: board } = await listedBoard(dir)
    expect(board).not.toHaveProperty('invalid')
    expect(Object.fromEntries(tasks.map(({ id, status, ready }) => [id, [status, ready]]))).toEqual(
      {
        'epic-1': ['in-progress', false],
        '1-1-fill': ['ready-for-dev', true],
        '1-2-heat': ['backlog', true],
        'epic-1-retrospective': ['done', false],
        'epic-2-retrospective': ['drafted', false],
      },
    )
    expect(tasks.find(({ id }) => id === '1-1-fill')?.title).toBe('Fill it')
  })

  test('says that its folder has no status file, until there is one', async () => {
    const config = "sprint_artifacts: '{project-root}/docs/sprint-artifacts'\n"
    const mark = { '.bmad/_cfg/manifest.yaml': '', '.bmad/bmm/config.yaml': config }
    const store = await openStore(makeFolder(mark))
    const { read } = new FileReader({ store, clock: hostClock, runOutput: 'masked' })
    const board = new Board(store, read)
    const invalidNow = async () => {
      board.takeChanged(0)
      const record = await board.read('board:board')
      return record?.kind === 'board' ? record.board.invalid : 'no board'
    }
    const why =
      'There is no sprint-status.yaml in docs/sprint-artifacts, the folder named by .bmad/bmm/config.yaml.'
    expect(await invalidNow()).toBe(why)
    mkdirSync(dirname(store.tasksIn), { recursive: true })
    writeFileSync(store.tasksIn, SPRINT)
    const state = read(store.tasksIn)
    if (state.state === 'parsed') board.ingest(store.tasksIn, state.file)
    expect(await invalidNow()).toBeUndefined()
    expect(board.countTasks()).toBe(5)
    rmSync(store.tasksIn)
    board.ingest(store.tasksIn, null)
    expect(await invalidNow()).toBe(why)
  })

  test('says why its configuration cannot be read', async () => {
    const config = 'a: b\n<<<<<<< HEAD\noutput_folder: docs\n=======\n'
    const dir = makeFolder({ '_bmad/_config/manifest.yaml': '', '_bmad/bmm/config.yaml': config })
    const { board } = await openStore(dir)
    expect(board?.invalid).toMatch(/named by _bmad\/bmm\/config\.yaml \(line 2: /)
  })
})
