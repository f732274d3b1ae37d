// The package in an empty folder: what is in it, its commands, its libraries, a driver and a Worker
// of one's own. One installation serves them all, because making one takes seconds.

import { beforeAll } from 'vitest'
import { type InstalledPackage, installPackage } from '../support/installed-package.ts'
import { packageCommands } from '../tools/package/commands.ts'
import { packageDeploy } from '../tools/package/deploy.ts'
import { packageFiles } from '../tools/package/files.ts'
import { packageLibraries } from '../tools/package/libraries.ts'
import { ownDriver } from '../tools/package/own-driver.ts'
import { ownWorker } from '../tools/package/own-worker.ts'
import { packageReadme } from '../tools/package/readme.ts'

const INSTALL_MS = 300_000

let installed: InstalledPackage

beforeAll(async () => {
  installed = await installPackage()
}, INSTALL_MS)

packageFiles(() => installed)
packageCommands(() => installed)
packageDeploy(() => installed)
packageLibraries(() => installed)
packageReadme(() => installed)
ownDriver(() => installed)
ownWorker(() => installed)
