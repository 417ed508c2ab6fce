import { RESOURCES } from '../../catalog/catalog.ts';
import type { Resource } from '../../catalog/define.ts';
import type { Scope } from '../../catalog/scopes.ts';
import { schemasOf } from './components.ts';
import type { Json } from './json.ts';
import { operationPaths } from './operations.ts';
import { SHARED_PARAMETERS } from './parameters.ts';
import { SHARED_HEADERS, sharedResponses } from './responses.ts';
import { SERVICE_PATHS, SERVICE_SCHEMAS, TOKEN_PATH } from './service.ts';

/** What each scope allows. */
export const SCOPE_MEANINGS: Readonly<Record<Scope, string>> = {
  'model:read': 'Read records and reports',
  'model:write': 'Create, change and delete records',
  'practice:read': 'Read the production report',
};

const DESCRIPTION = `HTTP and JSON interface to a dental practice-management system.

Every request names its organization in the \`Organization-ID\` header and carries a bearer token. Answers are envelopes:
\`data\`, \`warnings\`, \`errors\`, and \`meta\` on bulk reads. Lists are walked with \`lastId\`: begin with 0, go on with
the id of the last record, and stop at an empty page. Enumerated values are read in any letter case, ids as numbers or
numeric strings. \`GET /docs\` shows this reference as a page, with guides.`;

/** The OpenAPI 3.1 description of the service, derived from the catalog; paths are those that are served. */
export function openApiDocument(resources: readonly Resource[] = RESOURCES): Json {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Practice Management API',
      version: '1.0.0',
      summary: 'Patients, documents, ledger, schedule and reports of a dental practice',
      description: DESCRIPTION,
      contact: { name: 'The operator of this server' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'This server' }],
    tags: [
      ...resources.map(({ name, about }) => ({ name, description: about })),
      { name: 'authentication', description: 'Tokens' },
      { name: 'stream', description: 'Changes as they are committed' },
      { name: 'files', description: 'Signed download links' },
      { name: 'service', description: 'Health, metrics and documentation' },
    ],
    paths: { ...operationPaths(resources), ...SERVICE_PATHS },
    components: {
      schemas: { ...schemasOf(resources), ...SERVICE_SCHEMAS },
      parameters: SHARED_PARAMETERS,
      headers: SHARED_HEADERS,
      responses: sharedResponses(),
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'A token of the organization.' },
        clientCredentials: {
          type: 'oauth2',
          description: 'Tokens by client id and secret.',
          flows: {
            clientCredentials: { tokenUrl: `${TOKEN_PATH}?grant_type=client_credentials`, scopes: SCOPE_MEANINGS },
          },
        },
      },
    },
  };
}
