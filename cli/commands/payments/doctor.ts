// Checks payments: their configuration, secrets, database, clocks and edge.

import { findProject } from '../../../system/find-board.ts'
import { define } from '../../command.ts'
import { report, takenFrom } from '../../doctor/findings.ts'
import { checkPayments } from '../../doctor/payments.ts'
import { PAYMENTS_TARGET } from '../../payments/target.ts'
import { systemIn } from '../../running-system.ts'
import { JSON_OUTPUT } from '../../settings.ts'

export const command = define({
  usage: '[--edge URL | --data DIR] [--env FILE] [options]',
  description: `\
Reads signalbox.config.ts and the environment (with --env: that file; with --data: what the
running signalbox has; with none of them, the one that runs in the project or above it),
reads the database, and asks each gateway for an access token. With an edge, it sends two
callbacks to each webhook route: one that is not signed, and one that is about no payment. It
charges nothing and stores nothing. The edge knows both callbacks for what they are: it counts and
logs them, and raises no alarm. To read payments from the edge, the token needs the scope
payments:read. Prints one line for each check: ok, warn or error. It never prints a secret.`,
  options: [...PAYMENTS_TARGET, JSON_OUTPUT],
  async run(input, context) {
    const { cwd, env, io } = context
    const project = (await findProject(cwd)) ?? cwd
    const here = await systemIn(project, input, env)
    const findings = [
      ...(here ? [takenFrom(here)] : []),
      ...(await checkPayments(input, context, here)),
    ]
    return report(findings, input.options.json, io)
  },
})
