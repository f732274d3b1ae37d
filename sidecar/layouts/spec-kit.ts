// The spec-kit layout: `specs/<feature>/` with `tasks.md` and `spec.md`, beside `.specify/`.

import { basename, dirname, join, resolve } from 'node:path'
import { checklistStore } from './checklist.ts'
import type { Layout } from './layout.ts'
import { phaseOrder } from './spec-kit-phases.ts'
import { isWithin, readConfig, realFolder } from './store-folder.ts'
import { readYamlMap } from './yaml.ts'

const MARK = '.specify'
/** Where features are, one of them in older projects. */
const [SPECS, OLDER] = ['specs', join(MARK, 'specs')]

export const specKit = {
  signs: 'spec-kit (.specify/)',
  marks: [MARK],
  async detect(dir) {
    const root = await realFolder(dir)
    if (root === undefined || !(await realFolder(join(root, MARK)))) return undefined
    const feature = featureIn(root)
    const places: string[] = []
    for (const place of [OLDER, ...(feature ? [dirname(feature)] : [])]) {
      const path = resolve(root, place)
      const isOwn = path !== root && path !== join(root, SPECS) && !places.includes(path)
      if (isOwn && isWithin(path, root) && (await realFolder(path)) === path) places.push(path)
    }
    const specs = join(root, SPECS)
    const hasSpecs = (await realFolder(specs)) !== undefined || places.length === 0
    const [tasksIn = specs, ...othersIn] = hasSpecs ? [specs, ...places] : places
    return checklistStore({
      board: { layout: 'spec-kit', states: ['todo', 'done'], closed: ['done'], initial: 'todo' },
      root,
      within: '',
      tasksIn,
      othersIn,
      unread() {
        if (!feature || [tasksIn, ...othersIn].includes(dirname(feature))) return undefined
        const what = `The feature ${basename(feature)}, which ${FEATURE} names, is not read`
        return `${what}: it must be in a folder of the project that holds features, as ${SPECS}/.`
      },
      marks: { x: 'done', X: 'done' },
      about: ['spec.md'],
      titleOf: (heading) => heading.replace(/^feature specification:\s+/i, ''),
      fieldsIn({ numbers, idOf }) {
        const byValue = Map.groupBy(numbers.filter(isTask), digitsOf)
        return ({ text, lines, number, group = '' }) => {
          const below = lines.slice(1).map((line) => line.trim())
          const named = idsAfter([text, ...below].join(' '), byValue)
          const waitsFor = named.filter((id) => id !== number)
          const [shown, marks] = withoutMarks(text)
          const labels = marks.map((mark) => (mark === 'P' ? PARALLEL : mark))
          const priority = /\(Priority: (\w+)\)/.exec(group)?.[1]
          return {
            title: shown,
            ...(labels.length > 0 && { labels }),
            ...(waitsFor.length > 0 && { deps: waitsFor.map(idOf) }),
            ...(priority !== undefined && { priority }),
          }
        }
      },
      orderOf: (items) => phaseOrder(items, ({ text }) => withoutMarks(text)[1].includes('P')),
    })
  },
} satisfies Layout

const FEATURE = join(MARK, 'feature.json')

/** The folder of the feature that the tool works on, as it was named at the last `specify`. */
function featureIn(root: string): string | undefined {
  const json = readYamlMap(readConfig(join(root, FEATURE)))
  const named = json.ok ? json.fields.get('feature_directory') : undefined
  return typeof named === 'string' && named !== '' ? resolve(root, named) : undefined
}

const PARALLEL = 'parallel'
/** `[P] [US1]`: which may run in parallel, and for which user story. */
const MARKS_FIRST = /^(?:\[(?:P|US\d{1,6})\]\s*)+/
const MARKS_LAST = /(?:\s{0,40}\[(?:P|US\d{1,6})\])+[.;]?$/
/** What a task waits for, in parentheses of its own; they may end on a later line. */
const WAITS_ALONE =
  /\s{0,40}[*_~`]{0,3}\(\s{0,40}[*_~`]{0,3}depends?\s+(?:up)?on\b[^()]{0,1000}(?:\)[*_~`]*[.;]?|$)/i

function withoutMarks(text: string): [text: string, marks: string[]] {
  const first = MARKS_FIRST.exec(text)?.[0] ?? ''
  const own = text.slice(first.length).replace(WAITS_ALONE, '').trimEnd()
  const last = MARKS_LAST.exec(own)?.[0] ?? ''
  const marks = [...`${first}${last}`.matchAll(/\w+/g)].map(([mark]) => mark)
  return [own.slice(0, own.length - last.length).trim(), marks]
}

const WAITS = /\b(?:depends?\s+(?:up)?on|dependenc(?:y|ies)\s*:|depends\s*:)/gi
/** In parentheses there may be words beside the ids; elsewhere a list ends with its last id. */
const TO_PARENTHESIS = /^[^()]{1,1000}(?=\))/
const ID = 'T\\d{1,6}[A-Za-z]?'
const LINKS = 'and|or|to|through|tasks?|all|both|of|on'
const LIST = new RegExp(
  `^(?:[\\s:,;&+/*_~\`([\\]–—-]|\\b(?:${LINKS})\\b|${ID}|(?<=\\d[-–—])\\d{3,6})+`,
  'i',
)
const EMPHASIS = '[*_~`]{0,3}'
const TO = `${EMPHASIS}\\s{0,9}(?:-|–|—|\\.\\.|to\\b|through\\b)\\s{0,9}${EMPHASIS}`
/** The second of two that are the ends of a range is often without its letter: `T001-003`. */
const RANGE_OR_ID = new RegExp(`(${ID})(?:${TO}(${ID}|\\d{3,6}))?`, 'g')
/** How far a parenthesis is looked for. In a text of nothing else the search would take minutes. */
const NEAR_CHARS = 400

/** The tasks of a list, by the values of their numbers. */
type ByValue = ReadonlyMap<number, readonly string[]>

/** The numbers that a text says it depends on. */
function idsAfter(text: string, list: ByValue): string[] {
  const ids = [...text.matchAll(WAITS)].flatMap(({ 0: words, index }) => {
    const before = text.slice(Math.max(0, index - NEAR_CHARS), index)
    const rest = text.slice(index + words.length)
    const isEnclosed = before.lastIndexOf('(') > before.lastIndexOf(')')
    const named = (isEnclosed && TO_PARENTHESIS.exec(rest)?.[0]) || LIST.exec(rest)?.[0] || ''
    return [...named.matchAll(RANGE_OR_ID)].flatMap(([, from = '', to]) =>
      to === undefined ? [from] : range(from, to.startsWith('T') ? to : `T${to}`, list),
    )
  })
  return [...new Set(ids)]
}

/** With more, one line of a large list names thousands: then only its ends count. */
const MAX_RANGE = 500

/** Between the two, those that the list has: a number that was left out belongs to no task. */
function range(from: string, to: string, list: ByValue): string[] {
  const [first, last] = [digitsOf(from), digitsOf(to)]
  const length = last - first <= MAX_RANGE ? Math.max(0, last - first - 1) : 0
  const between = Array.from({ length }, (_, at) => list.get(first + 1 + at) ?? [])
  return [from, ...between.flat(), to]
}

const isTask = (number: string): boolean => number.startsWith('T')
const digitsOf = (number: string): number => Number(/\d+/.exec(number)?.[0])
