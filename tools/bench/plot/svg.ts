// A minimal SVG writer: elements with escaped attributes. Pure.

export type Attributes = Readonly<Record<string, string | number>>

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escaped = (text: string): string => text.replaceAll(/[&<>"]/g, (it) => ESCAPES[it] ?? it)

/** A tenth of a pixel is precise enough, and keeps files with 2,000 dots small. */
const written = (value: string | number): string =>
  typeof value === 'number' ? String(Math.round(value * 10) / 10) : escaped(value)

export function element(name: string, attributes: Attributes, children?: readonly string[]) {
  const all = Object.entries(attributes).map(([key, value]) => ` ${key}="${written(value)}"`)
  if (children === undefined) return `<${name}${all.join('')}/>`
  return `<${name}${all.join('')}>${children.join('')}</${name}>`
}

export interface Style {
  fill?: string
  weight?: number
  size?: number
  anchor?: 'start' | 'middle' | 'end'
}

export function text(x: number, y: number, words: string, style: Style = {}): string {
  const { fill = INK, weight = 400, size = 13, anchor = 'start' } = style
  const look = { fill, 'font-weight': weight, 'font-size': size, 'text-anchor': anchor }
  return element('text', { x, y, ...look }, [escaped(words)])
}

export const line = (x1: number, y1: number, x2: number, y2: number, style: Attributes): string =>
  element('line', { x1, y1, x2, y2, ...style })

/** A white background, to be readable on a dark page as well. */
export function drawing(width: number, height: number, title: string, children: readonly string[]) {
  const font = 'Inter, "Segoe UI", "Helvetica Neue", "DejaVu Sans", Arial, sans-serif'
  const box = { viewBox: `0 0 ${written(width)} ${written(height)}`, width, height }
  const open = { xmlns: 'http://www.w3.org/2000/svg', ...box, 'font-family': font, role: 'img' }
  const paper = element('rect', { width, height, rx: 8, fill: '#ffffff' })
  const all = [element('title', {}, [escaped(title)]), paper, ...children]
  return `${element(
    'svg',
    open,
    ['', ...all, ''].map((child) => `${child}\n`),
  )}\n`
}

export const INK = '#1f2933'
export const SOFT = '#66727f'
export const FAINT = '#e4e8ec'
export const ALARM = '#c0262d'
