// The spec-kit layout: `specs/<feature>/` with `tasks.md` and `spec.md`, beside `.specify/`.

import { basename, dirname, join, resolve } from 'node:path'
import { checklistStore } from './checklist.ts'
import { MAX_WAITS } from './checklist-order.ts'
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
        const byValue = Map.groupBy(new Set(numbers.filter(isTask)), digitsOf)
        const between = betweenIn(byValue)
        return ({ text, lines, number, group = '' }) => {
          const below = lines.slice(1).map((line) => line.trim())
          const named = idsAfter([text, ...below].join(' '), between)
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
const MARK_LAST = /\[(P|US\d{1,6})\]$/
const MARK_CHARS = '[US123456]'.length
/** `(depends on T012)`: what a task waits for. The parentheses may end on a later line. */
const WAITS_ALONE = /\(\s*[*_~`]*depends?\s+(?:up)?on\b[^()]*(?:\)[*_~`]*[.;]?|$)/i
/** What begins before the parentheses: `Add the form **(depends on T012)**`. */
const EMPHASIS_LAST = /(?<![*_~`])[*_~`]+$/

function withoutMarks(text: string): [text: string, marks: string[]] {
  const first = MARKS_FIRST.exec(text)?.[0] ?? ''
  const own = withoutWaits(text.slice(first.length)).trimEnd()
  const [shown, last] = withoutMarksLast(own)
  const marks = [...first.matchAll(/\w+/g)].map(([mark]) => mark)
  return [shown.trim(), [...new Set([...marks, ...last])]]
}

/** One by one: an expression for all of them would begin again at each. */
function withoutMarksLast(text: string): [text: string, marks: string[]] {
  const marks: string[] = []
  let rest = text.replace(/[.;]$/, '')
  for (;;) {
    const [found, mark] = MARK_LAST.exec(rest.slice(-MARK_CHARS)) ?? []
    if (found === undefined || mark === undefined) break
    marks.push(mark)
    rest = rest.slice(0, -found.length).trimEnd()
  }
  return marks.length > 0 ? [rest, marks.reverse()] : [text, marks]
}

function withoutWaits(text: string): string {
  const found = WAITS_ALONE.exec(text)
  if (!found) return text
  const before = text.slice(0, found.index).replace(EMPHASIS_LAST, '')
  return before.trimEnd() + text.slice(found.index + found[0].length)
}

const WAITS = /\b(?:depends?\s+(?:up)?on|dependenc(?:y|ies)\s*:|depends\s*:)/gi
/**
 * `(depends on T012 and the form)`: in parentheses there may be words beside the ids; elsewhere a
 * list ends with its last id.
 */
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
function idsAfter(text: string, between: ReturnType<typeof betweenIn>): string[] {
  const ids = new Set<string>()
  for (const { 0: words, index } of text.matchAll(WAITS)) {
    const before = text.slice(Math.max(0, index - NEAR_CHARS), index)
    const rest = text.slice(index + words.length)
    const isEnclosed = before.lastIndexOf('(') > before.lastIndexOf(')')
    const named = (isEnclosed && TO_PARENTHESIS.exec(rest)?.[0]) || LIST.exec(rest)?.[0] || ''
    for (const [, from = '', to] of named.matchAll(RANGE_OR_ID)) {
      ids.add(from)
      if (to === undefined) continue
      const last = to.startsWith('T') ? to : `T${to}`
      for (const id of between(digitsOf(from), digitsOf(last))) ids.add(id)
      ids.add(last)
    }
  }
  return [...ids]
}

/** Of a longer range only its ends count: one line would name all of a large list. */
const MAX_RANGE = 500

/**
 * What a list has between two numbers: one that was left out belongs to no task. Counted before it
 * is made, over the whole list, since each of its lines could name a range many times.
 */
function betweenIn(list: ByValue): (first: number, last: number) => Iterable<string> {
  let left = MAX_WAITS
  return function* (first, last) {
    if (last - first > MAX_RANGE) return
    let count = 0
    for (let at = first + 1; at < last; at++) count += 1 + (list.get(at)?.length ?? 0)
    if (count > left) return
    left -= count
    for (let at = first + 1; at < last; at++) yield* list.get(at) ?? []
  }
}

const isTask = (number: string): boolean => number.startsWith('T')
const digitsOf = (number: string): number => Number(/\d+/.exec(number)?.[0])
