import * as Flags from '@oclif/core/flags';
import { connectionFlags, talkFlags } from '../flags/connection.ts';

const helpGroup = 'CONNECTION';

/** Flags of `molar login`. None takes a secret value: argument lists are open to others. */
export const loginFlags = {
  json: Flags.boolean({ summary: 'Print JSON' }),
  ...talkFlags,
  ...connectionFlags,
  profile: Flags.string({ helpGroup, helpValue: 'NAME', summary: 'Name to keep the connection under, else default' }),
  'token-command': Flags.string({
    helpGroup,
    helpValue: 'COMMAND',
    summary: 'A command that prints the token; it is kept in place of the token and run each time',
  }),
  'client-id': Flags.string({ helpGroup, helpValue: 'ID', summary: 'Client id (MOLAR_CLIENT_ID)' }),
  'client-secret-stdin': Flags.boolean({ helpGroup, summary: 'Read the client secret from standard input' }),
  'client-secret-file': Flags.string({ helpGroup, helpValue: 'FILE', summary: 'Read the client secret from a file' }),
  'token-url': Flags.string({
    helpGroup,
    helpValue: 'URL',
    summary: 'Where client id and secret get a token (MOLAR_TOKEN_URL)',
  }),
};
