// What one check of the doctor found.

export interface Finding {
  level: 'ok' | 'warn' | 'error'
  /** What was checked: a gateway's key, `database`, `clock`, `edge`, … */
  about: string
  sentence: string
}

type Find = (about: string, sentence: string) => Finding

export const ok: Find = (about, sentence) => ({ level: 'ok', about, sentence })
export const warn: Find = (about, sentence) => ({ level: 'warn', about, sentence })
export const error: Find = (about, sentence) => ({ level: 'error', about, sentence })

const SHOWN = 5

/** The first few of many. */
export function some(all: readonly string[]): string {
  const more = all.length > SHOWN ? `, and ${all.length - SHOWN} more` : ''
  return `${all.slice(0, SHOWN).join(', ')}${more}`
}
