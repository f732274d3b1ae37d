// What `serve` tells other commands about its environment.

import { expect, test } from 'vitest'
import { namesOfFiles } from '../../cli/data-folder.ts'

test('of the files that variables name, those of secrets are told, and no others', () => {
  const told = {
    AUTH_SECRETS_FILE: '/a',
    ACME_CLIENT_SECRET_FILE: '/b',
    CREDENTIALS_DIRECTORY: '/c',
  }
  expect(
    namesOfFiles({ ...told, SSL_CERT_FILE: '/d', TF_CLI_CONFIG_FILE: '/e', HOME: '/f' }),
  ).toEqual(told)
})
