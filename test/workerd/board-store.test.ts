import { env, runInDurableObject } from 'cloudflare:test'
import { objectSql, type RepositoryObject } from '../../worker/board/repositories-object.ts'
import { boardStoreContract } from '../contract/board-store.ts'

const { REPOSITORY } = env as unknown as { REPOSITORY: DurableObjectNamespace<RepositoryObject> }

boardStoreContract('the storage of an object', async (use) => {
  const stub = REPOSITORY.getByName(crypto.randomUUID())
  await runInDurableObject(stub, async (_, state) => {
    await state.storage.deleteAll()
    use(objectSql(state.storage))
  })
})
