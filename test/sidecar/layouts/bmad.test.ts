import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openStore } from '../../../sidecar/layouts/registry.ts'
import type { Task } from '../../../worker/board/wire.ts'
import { listedBoard } from '../../support/listed-board.ts'
import { makeFolder } from './store.ts'

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
    expect(byId).toEqual({
      'epic-1': {
        id: 'epic-1',
        title: 'Hot drinks',
        status: 'in-progress',
        type: 'epic',
        rank: 1_000_000,
        ready: false,
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
      },
      'epic-1-retrospective': {
        id: 'epic-1-retrospective',
        title: 'Epic 1 retrospective',
        status: 'optional',
        type: 'retrospective',
        parent: 'epic-1',
        rank: 1_999_999,
        ready: false,
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
})
