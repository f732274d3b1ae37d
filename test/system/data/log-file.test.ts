import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openLogFile } from '../../../system/data/log-file.ts'
import { tempFolder } from '../../support/temp-folder.ts'

it('a log that is full becomes that of before, and no line is lost between the two', async () => {
  const dir = tempFolder()
  const file = join(dir, 'signalbox.log')
  writeFileSync(file, 'from the last start\n')
  const log = openLogFile(file, 40)
  for (let n = 0; n < 7; n++) log.write(`line ${n} of ten.\n`)
  await log.close()
  const of = (name: string) => readFileSync(join(dir, name), 'utf8')
  expect(readdirSync(dir).sort()).toEqual(['signalbox.log', 'signalbox.log.1'])
  expect(of('signalbox.log.1')).toBe('line 2 of ten.\nline 3 of ten.\nline 4 of ten.\n')
  expect(of('signalbox.log')).toBe('line 5 of ten.\nline 6 of ten.\n')
})
