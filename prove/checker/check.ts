// `npm run check-history FILE`: says what a history shows that must not be. Imports only Node.

import { readFile } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import { checkBoard } from './board.ts'
import { type Finding, readHistory } from './history.ts'
import { checkPayments } from './payments.ts'

/** Every broken promise, in the order of the lines that show it. */
export function checkHistory(text: string): Finding[] {
  const history = readHistory(text)
  const last = history.lines.at(-1)
  if (last?.kind !== 'rest') {
    return [{ check: 'rest', line: last?.line ?? 0, what: 'the run did not come to rest' }]
  }
  return [...checkBoard(history), ...checkPayments(history)].sort((a, b) => a.line - b.line)
}

async function main(file: string | undefined): Promise<number> {
  if (file === undefined) {
    console.error('usage: npm run check-history FILE')
    return 2
  }
  const findings = checkHistory(await readFile(file, 'utf8'))
  for (const { check, line, what } of findings) console.log(`line ${line}: (${check}) ${what}`)
  console.log(`${findings.length} findings`)
  return findings.length === 0 ? 0 : 1
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  process.exitCode = await main(process.argv[2])
}
