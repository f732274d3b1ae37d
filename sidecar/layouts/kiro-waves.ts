// The order that a list of Kiro states in its section `Task Dependency Graph`: waves of tasks, as
// JSON or YAML, in a code fence or not. A wave comes after the one before it, or after those that
// it names. No I/O.

import { FENCE, type Item } from './checklist-items.ts'
import type { Order } from './checklist-order.ts'
import { isRecord } from './fields.ts'
import type { Plain } from './plain-yaml.ts'
import { readYamlMap } from './yaml.ts'

interface Wave {
  name: string | undefined
  /** Names of waves, or numbers of tasks of earlier ones. Undefined: the one before. */
  after: readonly string[] | undefined
  /** Numbers of tasks. */
  tasks: readonly string[]
}

const HEADING = /^#{1,6}\s+(?:[\d.]{1,9}\s+)?Task Dependency Graph\b/i
const AFTER = ['depends_on', 'dependsOn', 'depends-on']

export function waveOrder(items: readonly Item[], text: string): Order {
  const order = new Map<Item, readonly (readonly Item[])[]>()
  const waves = wavesIn(text)
  if (waves.length === 0) return order
  const byNumber = new Map(items.flatMap((it) => (it.isTwin ? [] : [[it.number, it]])))
  const placed = new Map<Item, number>()
  const members = waves.map(({ tasks }, at) =>
    tasks.flatMap((number) => {
      const item = byNumber.get(number)
      if (!item || placed.has(item)) return []
      placed.set(item, at)
      return [item]
    }),
  )
  const parts = Map.groupBy(items, ({ whole }) => whole)
  /** What is to be done for it: of a whole its parts, since nobody may have marked it as done. */
  const needed = (item: Item, at: number): Item[] => {
    if (item.isOptional) return []
    const own = (parts.get(item) ?? []).filter((part) => (placed.get(part) ?? at) <= at)
    const inParts = isDone(item) ? [] : own.flatMap((part) => needed(part, at))
    return inParts.length > 0 ? inParts : [item]
  }
  const names = new Map<string | undefined, number>()
  /** For each wave, what one after it waits for. One of optional tasks alone holds up nothing. */
  const gates: (readonly (readonly Item[])[])[] = []
  for (const [at, { name, after }] of waves.entries()) {
    const named = after?.flatMap((each) => {
      const item = byNumber.get(each)
      const isEarlier = item !== undefined && (placed.get(item) ?? at) < at
      return gates[names.get(each) ?? -1] ?? (isEarlier ? [needed(item, at)] : [])
    })
    const before = named ?? gates.at(-1) ?? []
    for (const item of members[at] ?? []) order.set(item, before)
    const own = (members[at] ?? []).flatMap((item) => needed(item, at))
    gates.push(own.length > 0 ? [own] : before)
    names.set(name, at)
  }
  return order
}

const isDone = ({ mark }: Item): boolean => mark.toLowerCase() === 'x'

/** Those of the first block that has any. */
function wavesIn(text: string): readonly Wave[] {
  for (const block of blocksIn(text)) {
    const written = block.startsWith('[') ? `{"waves": ${block}}` : block
    const yaml = readYamlMap(written.startsWith('- ') ? `waves:\n${written}` : written)
    const waves = yaml.ok ? yaml.fields.get('waves') : undefined
    if (Array.isArray(waves)) return waves.map(waveOf)
  }
  return []
}

function waveOf(value: Plain): Wave {
  if (!isRecord(value)) return { name: undefined, after: undefined, tasks: textsOf(value) }
  const { wave, id, tasks = [] } = value
  const after = AFTER.map((key) => value[key]).find((named) => named !== undefined)
  return {
    name: textsOf(wave ?? id ?? null)[0],
    after: after === undefined ? undefined : textsOf(after),
    tasks: textsOf(tasks),
  }
}

/** As the list has numbers: without a final dot, and without its word. */
const textsOf = (value: Plain): string[] =>
  [value].flat().flatMap((each) => {
    const named = isRecord(each) ? each.id : each
    if (named === null || typeof named === 'object') return []
    return [
      String(named)
        .trim()
        .replace(/^(?:task|wave)\s+/i, '')
        .replace(/\.$/, ''),
    ]
  })

/** What the code fences of the section hold, and at last what stands outside of them. */
function blocksIn(text: string): string[] {
  const lines = text.split(/\r?\n/)
  const start = lines.findIndex((line) => HEADING.test(line)) + 1
  if (start === 0) return []
  const blocks: string[][] = []
  const outside: string[] = []
  let fenced: string[] | undefined
  for (const line of lines.slice(start)) {
    if (FENCE.test(line)) {
      fenced = fenced ? undefined : []
      if (fenced) blocks.push(fenced)
    } else if (fenced) fenced.push(line)
    else if (line.startsWith('#')) break
    else outside.push(line)
  }
  return [...blocks, outside].map((block) => block.join('\n').trim())
}
