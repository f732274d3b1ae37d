// Prints the closing line of a CI run from vitest's JSON report; fails when a test failed or none ran.

import { readFileSync } from 'node:fs'

const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(
  readFileSync(process.argv[2] ?? '', 'utf8'),
)
const skipped = numPendingTests > 0 ? `, ${numPendingTests} skipped` : ''
console.log(`${numPassedTests} passed, ${numFailedTests} failed${skipped}`)
process.exitCode = numFailedTests > 0 || numPassedTests === 0 ? 1 : 0
