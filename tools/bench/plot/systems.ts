// Names and colours of the systems in all plots. Colour-blind people can distinguish the colours.

import type { System } from '../target.ts'
import { element, SOFT, text } from './svg.ts'

export const LOOKS: Record<System, { label: string; color: string }> = {
  signalbox: { label: 'Signalbox', color: '#1d63d8' },
  'signalbox-node': { label: 'Signalbox, one Node process', color: '#0e8a7d' },
  chokidar: { label: 'chokidar + SSE', color: '#c2570c' },
  'chokidar-tuned': { label: 'chokidar + SSE, tuned', color: '#7a8490' },
}

/** Every picture explains `tuned`, since the name does not. */
export const TUNED =
  'chokidar + SSE: one Node process. Tuned: ignores the temporary files of a save, for which it would read the folder.'

export function heading(title: string, lines: readonly string[]): string[] {
  return [
    text(32, 42, title, { size: 19, weight: 700 }),
    ...lines.map((words, n) => text(32, 64 + n * 18, words, { fill: SOFT })),
  ]
}

export function legend(systems: readonly System[], x: number, y: number): string[] {
  return systems.flatMap((system, n) => {
    const { label, color } = LOOKS[system]
    const left = x + n * 190
    return [
      element('rect', { x: left, y: y - 10, width: 12, height: 12, rx: 3, fill: color }),
      text(left + 19, y, label),
    ]
  })
}
