import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type FoundBoard, keyOf } from '../../../sidecar/boards/discover.ts'
import { type Naming, nameBoards } from '../../../sidecar/boards/names.ts'
import type { Store } from '../../../sidecar/layouts/layout.ts'
import type { LayoutName } from '../../../worker/board/wire.ts'
import { LAYOUT_NAMES } from '../../../worker/shared/layouts.ts'

const board = (dir: string, layout: LayoutName): FoundBoard => ({
  dir,
  store: { layout, root: dir, tasksIn: `${dir}/${layout}` } as Store,
})

const NAMING: Naming = { repo: '/home/tea', project: '/home/tea' }
const named = (boards: FoundBoard[], naming: Naming, known?: Map<string, string>) =>
  nameBoards(boards, naming, known).named.map(({ name }) => name)

test('the board that is found first today is the repository, the others say where they are', () => {
  const boards = [
    board('/home/tea/packages/a', 'kiro'),
    board('/home/tea', 'kiro'),
    board('/home/tea', 'openspec'),
    board('/home/else', 'cairn'),
  ]
  expect(named(boards, NAMING)).toEqual([
    '/home/tea',
    '/home/tea#kiro',
    '/home/tea/packages/a#kiro',
    '/home/else#cairn',
  ])
})

test('--repo replaces the project, and folders that were named beside it', () => {
  const naming = { repo: 'shop', project: '/home/tea', dirs: ['/home/tea', '/srv/jam', '/srv'] }
  const boards = [
    board('/home/tea', 'openspec'),
    board('/home/tea', 'kiro'),
    board('/home/tea/a', 'kiro'),
    board('/srv/jam', 'cairn'),
    board('/srv/jam/deep/er', 'bmad'),
    board('/srv/oat', 'cairn'),
  ]
  expect(named(boards, naming)).toEqual([
    'shop',
    'shop#kiro',
    'shop/a#kiro',
    'shop/jam#cairn',
    'shop/jam/deep/er#bmad',
    'shop/srv/oat#cairn',
  ])
})

test('without a board in the project itself, no other one takes its name', () => {
  expect(named([board('/home/tea/a', 'kiro')], NAMING)).toEqual(['/home/tea/a#kiro'])
})

test('--only changes no name', () => {
  const boards = [board('/home/tea', 'cairn'), board('/home/tea', 'kiro'), board('/srv/a', 'kiro')]
  expect(named(boards, { ...NAMING, only: ['kiro'] })).toEqual(['/home/tea#kiro', '/srv/a#kiro'])
  expect(named(boards, { ...NAMING, only: ['cairn'] })).toEqual(['/home/tea'])
})

test('the first board keeps its name beside one whose layout is tried earlier', () => {
  const kiro = board('/home/tea', 'kiro')
  const known = new Map([[keyOf(kiro), '/home/tea']])
  expect(nameBoards([kiro, board('/home/tea', 'cairn')], NAMING, known).named).toMatchObject([
    { name: '/home/tea#cairn' },
    { name: '/home/tea', store: { layout: 'kiro' } },
  ])
  // Also while it is gone.
  expect(named([board('/home/tea', 'cairn')], NAMING, known)).toEqual(['/home/tea#cairn'])
})

test('of two with one name the second is left out with a sentence, and the others go on', () => {
  const naming = { repo: 'shop', project: '/home/tea', dirs: ['/home/tea', '/srv/jam'] }
  const boards = [
    board('/srv/jam', 'cairn'),
    board('/home/tea/jam', 'cairn'),
    board('/srv/jam', 'kiro'),
  ]
  const { named, leftOut } = nameBoards(boards, naming)
  expect(named.map(({ name, dir }) => [name, dir])).toEqual([
    ['shop/jam#cairn', '/home/tea/jam'],
    ['shop/jam#kiro', '/srv/jam'],
  ])
  expect(leftOut).toEqual([
    {
      code: 'same_name',
      message:
        'The cairn board in /srv/jam is left out: another one is called shop/jam#cairn, too.',
    },
  ])
})

test('a folder whose name no repository can have is left out', () => {
  expect(nameBoards([board('/home/tea/a\nb', 'cairn')], NAMING)).toMatchObject({
    named: [],
    leftOut: [{ code: 'bad_name', message: expect.stringContaining('control characters') }],
  })
})

const boards = fc.uniqueArray(
  fc
    .record({
      dir: fc
        .array(fc.constantFrom('a', 'b', 'a#kiro', 'tea', '..c'), { maxLength: 3 })
        .chain((way) =>
          fc
            .constantFrom('/home/tea', '/srv', '/srv/tea', '/home/tea2')
            .map((top) => [top, ...way].join('/')),
        ),
      layout: fc.constantFrom(...LAYOUT_NAMES),
    })
    .map(({ dir, layout }) => board(dir, layout)),
  { selector: keyOf, maxLength: 12 },
)
const namings = fc.constantFrom<Naming>(
  NAMING,
  { repo: 'shop', project: '/home/tea', dirs: ['/home/tea', '/srv', '/srv/tea'] },
  { repo: 'shop', project: '/srv', dirs: ['/srv', '/home'] },
)
const byKey = (found: FoundBoard[], naming: Naming, known?: Map<string, string>) =>
  new Map(nameBoards(found, naming, known).named.map((it) => [keyOf(it), it.name]))

test('names depend on no order, no two are the same, and each is what it was later', () => {
  fc.assert(
    fc.property(boards, boards, namings, fc.gen(), (some, more, naming, gen) => {
      const names = byKey(some, naming)
      const other = gen(fc.shuffledSubarray, some, { minLength: some.length })
      expect(byKey(other, naming)).toEqual(names)
      expect(new Set(names.values()).size).toBe(names.size)
      const later = byKey([...more, ...some], naming, names)
      expect(new Set(later.values()).size).toBe(later.size)
      for (const [key, name] of names) expect(later.get(key)).toBe(name)
    }),
  )
})

test('every board has its own name where none was chosen', () => {
  fc.assert(
    fc.property(boards, (found) => {
      const isOdd = (dir: string) => dir.includes('#')
      const plain = found.filter(({ dir }) => !isOdd(dir))
      expect(nameBoards(plain, NAMING).leftOut).toEqual([])
    }),
  )
})
