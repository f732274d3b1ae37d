// Boards whose tasks are where few projects have them, and what is said of those with none.

import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { checkBoards } from '../../../cli/doctor/board.ts'
import { whyFewer } from '../../../sidecar/layouts/layout.ts'
import { openStore } from '../../../sidecar/layouts/registry.ts'
import { listedStore } from '../../support/listed-board.ts'
import { makeFolder } from '../../support/temp-folder.ts'

/** Without the folder's path. */
async function opened(files: Record<string, string>) {
  const dir = makeFolder(files)
  const store = await openStore(dir)
  const { tasks } = await listedStore(store)
  const places = Object.fromEntries(tasks.map(({ id, file }) => [id, file]))
  const why = whyFewer(store, tasks.length)?.replaceAll(`${dir}/`, '')
  return { places, why, tasksIn: store.tasksIn.slice(dir.length + 1), dir }
}

const LIST = '- [ ] T1 Fill\n'
const FEATURE = '.specify/feature.json'
const pointsTo = (feature_directory: unknown) => JSON.stringify({ feature_directory })

describe('features of spec-kit are read', () => {
  test.each<[string, Record<string, string>, string[], string]>([
    ['in specs', { '.specify/x': '', 'specs/a/tasks.md': LIST }, ['specs/a'], 'specs'],
    [
      'in .specify/specs',
      { '.specify/specs/a/tasks.md': LIST },
      ['.specify/specs/a'],
      '.specify/specs',
    ],
    [
      'where the current one is',
      {
        [FEATURE]: pointsTo('docs/features/a'),
        'docs/features/a/tasks.md': LIST,
        'docs/features/b/tasks.md': LIST,
      },
      ['docs/features/a', 'docs/features/b'],
      'docs/features',
    ],
    [
      'in all of these',
      {
        [FEATURE]: pointsTo('./docs/c/'),
        'specs/a/tasks.md': LIST,
        '.specify/specs/b/tasks.md': LIST,
        'docs/c/tasks.md': LIST,
      },
      ['specs/a', '.specify/specs/b', 'docs/c'],
      'specs',
    ],
    [
      'in a folder within specs',
      {
        [FEATURE]: pointsTo('specs/hot/b'),
        'specs/a/tasks.md': LIST,
        'specs/hot/b/tasks.md': LIST,
      },
      ['specs/a', 'specs/hot/b'],
      'specs',
    ],
    [
      'in specs, whatever the file says',
      { [FEATURE]: pointsTo(7), 'specs/a/tasks.md': LIST },
      ['specs/a'],
      'specs',
    ],
    ['once', { [FEATURE]: pointsTo('specs/a'), 'specs/a/tasks.md': LIST }, ['specs/a'], 'specs'],
  ])('%s', async (_, files, folders, tasksIn) => {
    const found = await opened(files)
    const expected = folders.flatMap((folder) => {
      const [id, file] = [folder.slice(folder.lastIndexOf('/') + 1), `${folder}/tasks.md`]
      return [
        [id, file],
        [`${id}/T1`, file],
      ]
    })
    expect(found).toMatchObject({ places: Object.fromEntries(expected), tasksIn })
    expect(Object.keys(found.places)).toHaveLength(expected.length)
    expect(found.why).toBeUndefined()
  })

  test.each([
    ['in the project itself', 'tea'],
    ['outside of it', '../tea'],
  ])('but none %s, which is said', async (_, named) => {
    const found = await opened({ [FEATURE]: pointsTo(named), 'tea/tasks.md': LIST })
    expect(found.places).toEqual({})
    expect(found.why).toBe(
      'The feature tea, which .specify/feature.json names, is not read: it must be in a folder of ' +
        'the project that holds features, as specs/.',
    )
  })
})

test('specs of Kiro in folders of specs are not read, which is said', async () => {
  const nested = { '.kiro/specs/hot/tea/tasks.md': LIST, '.kiro/specs/cold/requirements.md': '' }
  const one = await opened({ '.kiro/specs/a/tasks.md': LIST, ...nested })
  expect(Object.keys(one.places)).toEqual(expect.arrayContaining(['a', 'a/T1', 'cold']))
  expect(one.why).toBe(
    'A spec is not read: .kiro/specs/hot/tea. Only the folders in .kiro/specs itself are specs, as in Kiro.',
  )
  const more = await opened({ ...nested, '.kiro/specs/cold/juice/tasks.md': LIST })
  expect(more.why).toMatch(/^Specs are not read: \.kiro\/specs\/\S+ and 1 more\./)
})

test.each([
  ['config.yaml', 'store: team\n', true],
  ['config.yml', 'store: team\n', true],
  ['config.yaml', 'schema: spec-driven\n', false],
])(
  'the store that %s of OpenSpec names is said, where no change is: %j',
  async (name, text, isSaid) => {
    const { why } = await opened({ [`openspec/${name}`]: text })
    const said =
      `The changes of openspec are in the store team, which ${name} names: start signalbox in the ` +
      'folder of that store (openspec store list).'
    const empty =
      /^The board of openspec in openspec has no task: they are looked for in openspec\/changes\.$/
    if (isSaid) expect(why).toBe(said)
    else expect(why).toMatch(empty)
    const own = { [`openspec/${name}`]: text, 'openspec/changes/a/tasks.md': LIST }
    expect((await opened(own)).why).toBeUndefined()
  },
)

test('a board without a task says where tasks are looked for, and so does the doctor', async () => {
  const empty = await opened({ '.kiro/steering/x.md': '' })
  expect(empty.why).toBe(
    'The board of kiro in .kiro has no task: they are looked for in .kiro/specs.',
  )
  const { findings } = await checkBoards([empty.dir], {})
  expect(findings).toContainEqual({
    level: 'warn',
    about: 'board',
    sentence: `The board of kiro in ${join(empty.dir, '.kiro')} has no task: they are looked for in ${join(empty.dir, '.kiro/specs')}.`,
  })
  const full = await checkBoards([makeFolder({ '.kiro/specs/a/tasks.md': LIST })], {})
  expect(full.findings.filter(({ level }) => level !== 'ok')).toEqual([])
})
