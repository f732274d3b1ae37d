import { existsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { makePrivateFolder } from '../../../worker/shared/private-file-node.ts'
import { tempFolder } from '../../support/temp-folder.ts'

it('folders are made for their owner alone, those above them, too', () => {
  const dir = join(tempFolder(), 'a/b')
  makePrivateFolder(dir)
  makePrivateFolder(dir)
  expect([statSync(dir).mode & 0o777, statSync(join(dir, '..')).mode & 0o777]).toEqual([
    0o700, 0o700,
  ])
})

it('a folder that cannot be made is an error, also where the file system makes none at all', () => {
  const file = join(tempFolder(), 'file')
  writeFileSync(file, '')
  expect(() => makePrivateFolder(join(file, 'a/b'))).toThrow('ENOTDIR')
  if (existsSync('/proc/self')) expect(() => makePrivateFolder('/proc/a/b')).toThrow('ENOENT')
})
