import { watchChokidar, watchPolling } from '../../sidecar/watch-chokidar.ts'
import { watchNative } from '../../sidecar/watch-native.ts'
import { watchContract } from './watch.ts'

watchContract('native', watchNative)
watchContract('chokidar', watchChokidar)
watchContract('polling', watchPolling)
