import { once } from 'node:events'
import { existsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { expect, it, onTestFinished } from 'vitest'
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

/** Makes a folder of each round at the moment in which the other thread does. */
const ONE_OF_TWO = `
  const { module, dir, rounds } = require('node:worker_threads').workerData
  import(module).then(({ makePrivateFolder }) => {
    for (let round = 0; round < rounds.length; round++) {
      Atomics.add(rounds, round, 1)
      while (Atomics.load(rounds, round) < 2);
      makePrivateFolder(dir + '/' + round + '/a/b')
    }
  })`

it('folders are made by two at the same time', async () => {
  const rounds = new Int32Array(new SharedArrayBuffer(4 * 20))
  const module = new URL('../../../worker/shared/private-file-node.ts', import.meta.url).href
  const workerData = { module, dir: tempFolder(), rounds }
  const threads = [1, 2].map(() => new Worker(ONE_OF_TWO, { eval: true, workerData }))
  // One whose other has failed would wait for ever.
  onTestFinished(() => void threads.map((thread) => thread.terminate()))
  const ended = await Promise.all(threads.map((thread) => once(thread, 'exit')))
  expect(ended).toEqual([[0], [0]])
})

it('a folder that cannot be made is an error, also where the file system makes none at all', () => {
  const file = join(tempFolder(), 'file')
  writeFileSync(file, '')
  expect(() => makePrivateFolder(join(file, 'a/b'))).toThrow('ENOTDIR')
  if (existsSync('/proc/self')) expect(() => makePrivateFolder('/proc/a/b')).toThrow('ENOENT')
})
