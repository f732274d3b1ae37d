import { X509Certificate } from 'node:crypto'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { openCertificate } from '../../../system/local/certificate.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const DAY_MS = 86_400_000
const NOW = Date.UTC(2026, 0, 1)
const NAMES = ['192.168.1.5', 'lamp', 'lamp.local', 'localhost']

let dir: string
let file: string
beforeEach(() => {
  dir = tempFolder()
  file = join(dir, 'certificate.pem')
})

const open = (names = NAMES, now = NOW) => openCertificate(file, names, now)

describe('the certificate of a shared system', () => {
  it('is for each name and address, for a server, for a year', async () => {
    const { pem, fingerprint } = await open()
    const made = new X509Certificate(pem)
    expect(made.checkIP('192.168.1.5')).toBe('192.168.1.5')
    for (const name of ['lamp', 'lamp.local', 'localhost']) expect(made.checkHost(name)).toBe(name)
    expect(made.checkHost('lamp.example')).toBeUndefined()
    // For TLS servers. Browsers refuse others.
    expect(made.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1'])
    expect(made.ca).toBe(false)
    expect(Date.parse(made.validFrom)).toBe(NOW - DAY_MS)
    expect(Date.parse(made.validTo)).toBe(NOW + 365 * DAY_MS)
    expect(made.publicKey.asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' })
    expect(fingerprint).toBe(made.fingerprint256)
  })

  it('is made once, and kept for its owner alone', async () => {
    const first = await open()
    expect(await open()).toEqual(first)
    expect(await open(NAMES.slice(1), NOW + 300 * DAY_MS)).toEqual(first)
    expect(await readFile(file, 'utf8')).toBe(first.pem)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(await readdir(dir)).toEqual(['certificate.pem'])
  })

  it('is made anew for another address, before it expires, and if the file is broken', async () => {
    const first = await open()
    const moved = await open(['10.0.0.7', ...NAMES])
    expect(moved.fingerprint).not.toBe(first.fingerprint)
    const later = await open(['10.0.0.7'], NOW + 340 * DAY_MS)
    expect(later.fingerprint).not.toBe(moved.fingerprint)
    const [certificate] = later.pem.split(/(?<=END CERTIFICATE-----)/)
    for (const broken of ['', 'no certificate', certificate ?? '', first.pem.slice(0, -40)]) {
      await writeFile(file, broken)
      const repaired = await open()
      expect(new X509Certificate(repaired.pem).fingerprint256).toBe(repaired.fingerprint)
      expect(await open()).toEqual(repaired)
    }
  })

  it('lasts for this run where nothing can be kept', async () => {
    const [first, second] = await Promise.all(
      [1, 2].map(() => openCertificate(undefined, NAMES, NOW)),
    )
    expect(second?.fingerprint).not.toBe(first?.fingerprint)
    expect(await readdir(dir)).toEqual([])
  })
})
