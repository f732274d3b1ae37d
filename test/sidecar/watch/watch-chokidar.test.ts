import { watchChokidar } from '../../../sidecar/watch/watch-chokidar.ts'
import { watchContract } from '../../contract/watch.ts'

const MODULE = new URL('../../../sidecar/watch/watch-chokidar.ts', import.meta.url)

watchContract('chokidar', watchChokidar, MODULE)
