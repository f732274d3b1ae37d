// `npm run check-history FILE`: lists the promises that a history breaks. Exits with 0 if there are
// none, with 1 if there are, and with 2 if the file is no history.

import { readFileSync } from 'node:fs'
import { checkHistory, textOf } from './checker/check.ts'

const file = process.argv[2] ?? ''
try {
  const findings = checkHistory(readFileSync(file, 'utf8'))
  for (const finding of findings) console.log(textOf(finding))
  console.log(`${findings.length} findings`)
  process.exitCode = findings.length === 0 ? 0 : 1
} catch (error) {
  const usage = 'usage: npm run check-history FILE'
  console.error(file === '' ? usage : `${file} cannot be checked: ${(error as Error).message}`)
  process.exitCode = 2
}
