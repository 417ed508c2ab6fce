import { CONFIG_KEYS } from '../profiles/defaults.ts';
import type { Page } from './page.ts';

/** Variables that molar reads (contract §3), and what beats what. */
export const ENVIRONMENT: Page = {
  name: 'environment',
  about: 'variables and files that molar reads',
  sections: [
    {
      heading: 'Connection',
      blocks: [
        'A flag beats the environment, which beats the profile. No flag takes a secret value: use the environment, --token-stdin, --token-file or --token-command, or molar login.',
        {
          rows: [
            ['MOLAR_URL', 'Address before /api/v1; --url.'],
            ['MOLAR_ORGANIZATION', 'Organization id; --organization.'],
            ['MOLAR_TOKEN', 'Access token.'],
            ['MOLAR_CLIENT_ID', 'Client id, to get tokens with.'],
            ['MOLAR_CLIENT_SECRET', 'Client secret that goes with it.'],
            ['MOLAR_TOKEN_URL', 'Where client id and secret get tokens, when that is not below MOLAR_URL.'],
            ['MOLAR_PROFILE', 'Profile made by molar login; --profile.'],
            ['PGPASSWORD', 'Password of the user in --database; ~/.pgpass works too.'],
            [
              'AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT_URL_S3',
              'Account, region and address of the object storage of --files s3://…; the other variables of its SDK work too.',
            ],
            ['MOLAR_AMQP_PASSWORD', 'Password of the user in the --amqp of molar serve and molar stream listen.'],
            [
              'MOLAR_KEYRING',
              'off: molar login keeps secrets in the config file, and the keyring of the system is never touched. on, or not set: the keyring is used where it answers within 3 seconds.',
            ],
          ],
        },
        'A token goes over plain http:// only to this machine, or with --allow-http.',
      ],
    },
    {
      heading: 'Network and output',
      blocks: [
        {
          rows: [
            ['HTTPS_PROXY, HTTP_PROXY', 'Proxy for https:// and http:// addresses.'],
            ['NO_PROXY', 'Hosts that are reached without a proxy.'],
            ['NODE_EXTRA_CA_CERTS', 'PEM file of certificates to trust as well; --ca-cert.'],
            ['TZ', "This computer's time zone, unless --timezone or molar config set timezone names another."],
            ['NO_COLOR', 'No colours, also on a terminal; TERM=dumb does the same.'],
          ],
        },
      ],
    },
    {
      heading: 'Files',
      blocks: [
        {
          rows: [
            [
              'MOLAR_CONFIG_DIR',
              "Folder of profiles and defaults; otherwise the platform's: XDG_CONFIG_HOME or ~/.config, ~/Library/Preferences, APPDATA.",
            ],
            ['XDG_DATA_HOME, LOCALAPPDATA', 'Where molar serve keeps its data without --data.'],
            [
              'DBUS_SESSION_BUS_ADDRESS, XDG_RUNTIME_DIR',
              'On Linux, where the keyring of the session is found; without them secrets go to a file.',
            ],
          ],
        },
        'molar config path tells the file. Its keys:',
        { rows: CONFIG_KEYS.map(({ key, about }): readonly [string, string] => [key, about]) },
      ],
    },
  ],
};
