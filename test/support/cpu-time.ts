// How long this thread computed. The time of day would count what other processes of a busy machine
// computed meanwhile.

export async function cpuMs(work: () => unknown): Promise<number> {
  const before = process.threadCpuUsage()
  await work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}
