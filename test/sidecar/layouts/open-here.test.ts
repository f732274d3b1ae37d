import { closeSync, fstatSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readSource } from '../../../sidecar/files/read-source.ts'
import { openFolderHere, openHere, readSmall } from '../../../sidecar/layouts/open-here.ts'
import { makeFolder } from '../../support/temp-folder.ts'
import { swapForLink } from './store.ts'

/** More by hand: `SWAPPED_READS=1000000`. */
const READS = Number(process.env.SWAPPED_READS ?? 10_000)

async function swapped() {
  const top = makeFolder({
    'tasks/a.md': 'own',
    'tasks/own.md': 'own',
    'elsewhere/a.md': 'foreign',
    'elsewhere/foreign.md': 'foreign',
  })
  const at = join(top, 'tasks')
  await swapForLink(at, join(top, 'elsewhere'))
  return { at, file: join(at, 'a.md') }
}

function countOf(read: () => string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (let n = 0; n < READS; n++) {
    const seen = read()
    counts.set(seen, (counts.get(seen) ?? 0) + 1)
  }
  return counts
}

describe('while a folder is swapped for a link and back in a loop', () => {
  test('no read returns a file of the folder that the link leads to', async () => {
    const { file } = await swapped()
    const counts = countOf(() => {
      const source = readSource({ classify: () => 'task' }, file)
      return source.state === 'read' ? source.text : source.state
    })
    expect(counts.get('own')).toBeGreaterThan(0)
    expect(counts.has('foreign')).toBe(false)
  })

  test('no configuration or .gitignore is one of the other folder', async () => {
    const { file } = await swapped()
    const counts = countOf(() => readSmall(file, 100) ?? 'none')
    expect(counts.get('own')).toBeGreaterThan(0)
    expect(counts.has('foreign')).toBe(false)
  })

  test.runIf(process.platform === 'linux')('no list has a name of the other folder', async () => {
    const { at } = await swapped()
    const counts = countOf(() => {
      try {
        using dir = openFolderHere(at, { bufferSize: 32 })
        for (;;) {
          const entry = dir.readSync()
          if (entry === null) return 'own'
          if (entry.name === 'foreign.md') return 'foreign'
        }
      } catch {
        return 'none'
      }
    })
    expect(counts.get('own')).toBeGreaterThan(0)
    expect(counts.has('foreign')).toBe(false)
  })
})

describe('where the system does not say what was opened', () => {
  const unsaid = () => undefined

  test('the name and the identity are compared, so what is behind a link is refused', () => {
    const top = makeFolder({ 'tasks/a.md': 'own', 'elsewhere/a.md': 'foreign' })
    const fd = openHere(join(top, 'tasks/a.md'), unsaid)
    expect(fstatSync(fd).size).toBe(3)
    closeSync(fd)
    rmSync(join(top, 'tasks'), { recursive: true })
    symlinkSync('elsewhere', join(top, 'tasks'))
    expect(() => openHere(join(top, 'tasks/a.md'), unsaid)).toThrow(
      expect.objectContaining({ code: 'elsewhere' }),
    )
  })

  test('a swap between the opening and the look is noticed', () => {
    const top = makeFolder({ 'tasks/a.md': 'own', 'elsewhere/a.md': 'foreign' })
    rmSync(join(top, 'tasks'), { recursive: true })
    symlinkSync('elsewhere', join(top, 'tasks'))
    const swapBack = () => {
      rmSync(join(top, 'tasks'))
      mkdirSync(join(top, 'tasks'))
      writeFileSync(join(top, 'tasks/a.md'), 'own')
      return undefined
    }
    expect(() => openHere(join(top, 'tasks/a.md'), swapBack)).toThrow(
      expect.objectContaining({ code: 'elsewhere' }),
    )
  })
})

test('a file that was replaced after it was opened is still that of its path', () => {
  const top = makeFolder({ 'a.md': 'own' })
  const replace = (fd: number) => {
    rmSync(join(top, 'a.md'))
    return `${join(top, 'a.md')}${fd ? ' (deleted)' : ''}`
  }
  closeSync(openHere(join(top, 'a.md'), replace))
})
