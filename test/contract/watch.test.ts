import { watchChokidar } from '../../sidecar/watch-chokidar.ts'
import { watchNative } from '../../sidecar/watch-native.ts'
import { watchPolling } from '../../sidecar/watch-polling.ts'
import { watchContract } from './watch.ts'

watchContract('native', watchNative)
watchContract('chokidar', watchChokidar)
watchContract('polling', watchPolling)
