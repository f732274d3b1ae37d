import { watchChokidar } from '../../../sidecar/watching/watch-chokidar.ts'
import { watchContract } from '../../contract/watch.ts'

const MODULE = new URL('../../../sidecar/watching/watch-chokidar.ts', import.meta.url)

watchContract('chokidar', watchChokidar, MODULE)
