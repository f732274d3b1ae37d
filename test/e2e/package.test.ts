// The package in an empty folder: what is in it, its commands, its libraries, a driver and a Worker
// of one's own. One installation serves them all, because making one takes seconds.

import { afterAll, beforeAll } from 'vitest'
import { packageCommands } from '../package/commands.ts'
import { packageFiles } from '../package/files.ts'
import { packageLibraries } from '../package/libraries.ts'
import { ownDriver } from '../package/own-driver.ts'
import { ownWorker } from '../package/own-worker.ts'
import { packageReadme } from '../package/readme.ts'
import { type InstalledPackage, installPackage } from '../support/installed-package.ts'

const INSTALL_MS = 300_000

let installed: InstalledPackage

beforeAll(async () => {
  installed = await installPackage()
}, INSTALL_MS)
afterAll(() => installed?.remove())

packageFiles(() => installed)
packageCommands(() => installed)
packageLibraries(() => installed)
packageReadme(() => installed)
ownDriver(() => installed)
ownWorker(() => installed)
