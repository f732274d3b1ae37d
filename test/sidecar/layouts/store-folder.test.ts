import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isThere, lookAt } from '../../../sidecar/layouts/store-folder.ts'
import { makeFolder } from '../../support/temp-folder.ts'

test('below a file there is nothing, and a link to nothing is something', () => {
  const dir = makeFolder({ file: '' })
  symlinkSync('nowhere', join(dir, 'link'))
  const paths = ['file/commondir', 'none', 'x'.repeat(300), 'file', 'link']
  const whatIs = [false, false, false, true, true]
  expect(paths.map((path) => isThere(join(dir, path)))).toEqual(whatIs)
  expect(paths.map((path) => lookAt(join(dir, path)) !== undefined)).toEqual(whatIs)
})
