// What Node 20 lacks of what the sidecar uses. Imported before anything else by the package, which
// runs on the Node of the machine; a checkout brings its own.

Promise.withResolvers ??= withResolvers

function withResolvers<T>(this: PromiseConstructor): PromiseWithResolvers<T> {
  let resolvers: Omit<PromiseWithResolvers<T>, 'promise'> | undefined
  const promise = new this<T>((resolve, reject) => {
    resolvers = { resolve, reject }
  })
  if (!resolvers) throw new Error('A promise runs its executor at once.')
  return { promise, ...resolvers }
}
