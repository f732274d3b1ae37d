// The Dockerfile and compose.yaml. No daemon builds them here: they are linted, and what they run is
// run as plain commands, with the settings that they have.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { validate } from 'dockerfile-utils'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import manifest from '../../package.json' with { type: 'json' }
import { SIGNALBOX } from '../../tools/harness/config.ts'
import { freePort } from '../../tools/harness/free-port.ts'
import { SECRET } from '../support/edge.ts'
import { PATIENT } from '../support/patience.ts'
import { startProgram } from '../support/program.ts'
import { tempFolder } from '../support/temp-folder.ts'

const text = (await readFile('Dockerfile', 'utf8')).replaceAll(/\\\n\s*/g, '')
const linesOf = (instruction: string): string[] =>
  text.split('\n').flatMap((line) => line.match(RegExp(`^${instruction} (.*)`))?.[1] ?? [])

const words = (instruction: string): string[] => JSON.parse(linesOf(instruction)[0] ?? '[]')

/** The settings of the image, but for a folder and a port of this test. */
async function settings() {
  const dir = tempFolder()
  const env = Object.fromEntries(linesOf('ENV').flatMap((line) => line.split(' ').map(pair)))
  const own = { DATA_DIR: join(dir, 'data'), PORT: String(await freePort()) }
  return { ...env, ...own, HOST: '127.0.0.1', PATH: process.env.PATH, HOME: dir }
}
const pair = (assigned: string) => assigned.split('=') as [string, string]

describe('the image', () => {
  it('has no finding of the linter', () => {
    expect(validate(text)).toEqual([])
  })

  it('is built of two stages by scripts that there are, and runs as no root', () => {
    expect(linesOf('FROM')).toEqual(['node:24-slim AS build', 'node:24-slim'])
    const [build = '', install = ''] = linesOf('RUN')
    const [, script = ''] = /npm run (\S+)$/.exec(build) ?? []
    expect(manifest.scripts).toHaveProperty([script])
    expect(install).toMatch(/^npm install --global \/tmp\/signalbox\.tgz &&/)
    expect([linesOf('USER'), linesOf('VOLUME')]).toEqual([['node'], ['/data']])
  })

  it('is healthy while what it runs serves, and ends in order at its signal', async () => {
    const env = await settings()
    const [signal] = linesOf('STOPSIGNAL') as NodeJS.Signals[]
    const [, check = ''] = /CMD (.*)$/.exec(linesOf('HEALTHCHECK')[0] ?? '') ?? []
    const health = async () =>
      (await startProgram(['/bin/sh', '-c', check], { cwd: '/', env }).ended).code
    expect(await health()).toBe(1)
    expect(words('ENTRYPOINT')).toEqual(['signalbox'])
    const command = [process.execPath, SIGNALBOX, ...words('CMD')]
    const server = startProgram(command, { cwd: '/', env: { ...env, AUTH_SECRETS: SECRET } })
    await expect.poll(() => server.output, PATIENT).toContain('signalbox.ready')
    expect(await health()).toBe(0)
    expect(await server.stop(signal)).toEqual({ code: 0, signal: null })
  })
})

describe('compose.yaml', () => {
  const compose = async () => parse(await readFile('compose.yaml', 'utf8'), { merge: true })

  it('keeps the data, closes the secret, and waits for a healthy process', async () => {
    const { services, secrets, volumes } = await compose()
    const { signalbox, caddy } = services
    expect(Object.keys(volumes)).toEqual(['backups', 'certificates', 'data', 'state'])
    expect(signalbox.volumes).toContain(`data:${linesOf('VOLUME')}`)
    const [secret] = Object.keys(secrets)
    expect(signalbox.environment.AUTH_SECRETS_FILE).toBe(`/run/secrets/${secret}`)
    expect(signalbox).not.toHaveProperty('ports')
    expect(caddy.command).toContain(`--to signalbox:${linesOf('EXPOSE')}`)
    expect(caddy.depends_on.signalbox.condition).toBe('service_healthy')
  })

  it('has the secret outside of the clone, where neither git nor an image takes it', async () => {
    const { secrets } = await compose()
    expect(secrets['auth-secret'].file).toBe('../auth-secret')
    for (const file of ['.gitignore', '.dockerignore']) {
      expect((await readFile(file, 'utf8')).split('\n')).toContain('auth-secret')
    }
  })

  it('limits what each service logs, writes and takes of memory', async () => {
    const { services } = await compose()
    expect(Object.keys(services)).toEqual(['signalbox', 'backup', 'caddy'])
    for (const { read_only, tmpfs, mem_limit, logging } of Object.values<Service>(services)) {
      expect({ read_only, tmpfs, mem_limit }).toEqual({
        read_only: true,
        tmpfs: expect.arrayContaining(['/tmp']),
        mem_limit: expect.stringMatching(/^\d+m$/),
      })
      expect(logging.options).toEqual({ 'max-size': '10m', 'max-file': '5' })
    }
  })

  it('backs up into a volume that the user of the image may write, beside the data', async () => {
    const { services } = await compose()
    const { backup, signalbox } = services
    expect(backup.volumes).toEqual(signalbox.volumes)
    const folders = backup.volumes.map((volume: string) => volume.split(':')[1])
    const [, install = ''] = linesOf('RUN')
    const [, made = ''] = /install --directory --owner node .* 700 (.*)$/.exec(install) ?? []
    // A volume takes the owner of the folder that it is mounted over.
    expect(made.split(' ')).toEqual(folders)
    // It reads which database the service has from its folder, with the same secret.
    expect([backup.environment, backup.secrets]).toEqual([signalbox.environment, signalbox.secrets])
  })
})

interface Service {
  read_only: boolean
  tmpfs: string[]
  mem_limit: string
  logging: { options: object }
}
