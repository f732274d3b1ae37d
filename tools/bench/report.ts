// A result as a table in Markdown, and as a picture. Pure.

import { isReached, type Result, type Row } from './bench.ts'

/** A line for each thing that was measured, a column for each system. */
export function table(rows: readonly Row[]): string {
  const systems = [...new Set(rows.map(({ system }) => system))]
  const groups = Map.groupBy(rows, titleOf)
  const lines = [...groups].map(([title, group]) => [
    title,
    ...systems.map((system) => cellOf(group.find((row) => row.system === system))),
  ])
  const all = [['', ...systems], ['', ...systems].map(() => '---'), ...lines]
  return all.map((cells) => `| ${cells.join(' | ')} |\n`).join('')
}

const titleOf = ({ what, unit }: Row): string => `${what}, ${unit}`

/** The median, the p99 and the most of many values, or the one; then the aim. */
export function cellOf(row: Row | undefined): string {
  if (!row) return ''
  const { count, p50, p99, max, aim, faults = [] } = row
  const values = (count > 1 ? [p50, p99, max] : [p50]).map(shown).join(' / ')
  const limit =
    aim && `${aim.of} ${'most' in aim ? `≤ ${shown(aim.most)}` : `≥ ${shown(aim.least)}`}`
  const words = [...(limit ? [`${isReached(row) ? '' : 'missed: '}${limit}`] : []), ...faults]
  return words.length > 0 ? `${values} (${words.join('; ')})` : values
}

/** The page with the table of this benchmark between its marks; as it is where it has none. */
export const withTable = (page: string, name: string, { rows, machine, date }: Result): string =>
  page.replace(
    new RegExp(`(<!-- bench ${name} -->\\n).*?(<!-- end -->)`, 's'),
    (_, from: string, to: string) =>
      `${from}\n${table(rows)}\n${date.slice(0, 10)}, ${machine.cpu.trim()}\n\n${to}`,
  )

/** Three digits are all that a measurement is worth. */
const shown = (value: number): string =>
  Number.isFinite(value) ? value.toLocaleString('en', { maximumSignificantDigits: 3 }) : '–'

const WIDTH = 900
const LEFT = 290
const MARGIN = 32
const STEP = 24
/** For the numbers behind the longest bar. */
const NUMBERS = 150
/** Colour-blind people can distinguish them. */
const COLORS = ['#1d63d8', '#0e8a7d', '#c2570c', '#7a8490', '#8a5fb0', '#6aa0f2']
const [INK, SOFT, ALARM] = ['#1f2933', '#66727f', '#c0262d']

/** A bar to the median of each row, a stroke from there to its p99, and dashes for an aim. */
export function picture(title: string, { rows, machine }: Result): string {
  const systems = [...new Set(rows.map(({ system }) => system))]
  const parts: string[] = []
  const write = (x: number, y: number, words: string, style: string) =>
    parts.push(`<text x="${x}" y="${y}" ${style}>${escaped(words)}</text>`)
  const rule = (x1: number, x2: number, y1: number, y2: number, style: string) =>
    parts.push(`<line x1="${x1}" x2="${x2}" y1="${y1}" y2="${y2}" ${style}/>`)
  write(MARGIN, 38, title, `font-size="19" font-weight="700" fill="${INK}"`)
  const on = `${machine.cores} cores, Node ${machine.node}, ${machine.platform}.`
  write(MARGIN, 60, `Bars: p50. Strokes: p99. Dashes: an aim. ${on}`, `fill="${SOFT}"`)
  let y = 84
  for (const [what, group] of Map.groupBy(rows, titleOf)) {
    const most = Math.max(...group.flatMap(({ p50, p99 }) => [p50, p99]).filter(Number.isFinite))
    const at = (value: number) => Math.round(LEFT + ((WIDTH - LEFT - NUMBERS) * value) / most)
    y += STEP
    write(MARGIN, y, what, `font-weight="600" fill="${INK}"`)
    for (const { system, count, p50, p99, aim, unit } of group) {
      y += STEP
      write(MARGIN, y, system, `fill="${SOFT}"`)
      const bar = `x="${LEFT}" y="${y - 12}" height="14" rx="2"`
      const color = COLORS[systems.indexOf(system) % COLORS.length]
      const end = Number.isFinite(p50) ? at(p50) : LEFT
      parts.push(`<rect ${bar} width="${Math.max(end - LEFT, 1)}" fill="${color}"/>`)
      if (count > 1) rule(end, at(p99), y - 5, y - 5, `stroke="${color}" stroke-width="2"`)
      const limit = aim && ('most' in aim ? aim.most : aim.least)
      if (limit !== undefined && limit <= most) {
        rule(at(limit), at(limit), y - 16, y + 6, `stroke="${ALARM}" stroke-dasharray="4 3"`)
      }
      const numbers = count > 1 ? `${shown(p50)} · ${shown(p99)} ${unit}` : `${shown(p50)} ${unit}`
      write(WIDTH - NUMBERS + 12, y, numbers, `fill="${INK}"`)
    }
    y += STEP / 2
  }
  const font = 'font-family="Inter, Segoe UI, Helvetica Neue, DejaVu Sans, Arial, sans-serif"'
  const size = `viewBox="0 0 ${WIDTH} ${y + MARGIN}" width="${WIDTH}" height="${y + MARGIN}"`
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} ${font} font-size="13" role="img">`,
    `<title>${escaped(title)}</title>`,
    // White, to be readable on a dark page as well.
    `<rect width="${WIDTH}" height="${y + MARGIN}" rx="8" fill="#ffffff"/>`,
    ...parts,
    '</svg>\n',
  ].join('\n')
}

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
const escaped = (text: string): string => text.replaceAll(/[&<>]/g, (it) => ESCAPES[it] ?? it)
