import { constants, createHmac, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A key pair of an issuer: its private half, and its public half as it is published. */
export interface IssuerKey {
  readonly privateKey: KeyObject;
  readonly jwk: Readonly<Record<string, unknown>>;
}

/** A new key pair for an algorithm of JWS; what is given is published beside it, `undefined` leaves something out. */
export function issuerKey(
  alg: string,
  published: Readonly<Record<string, unknown>> = {},
  { privateKey, publicKey } = pairFor(alg),
): IssuerKey {
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid: randomUUID(), use: 'sig', alg, ...published };
  return { privateKey, jwk };
}

function pairFor(alg: string): { privateKey: KeyObject; publicKey: KeyObject } {
  const curve = { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521' }[alg];
  if (curve !== undefined) return generateKeyPairSync('ec', { namedCurve: curve });
  if (alg === 'EdDSA') return generateKeyPairSync('ed25519');
  return generateKeyPairSync('rsa', { modulusLength: 2048 });
}

/** A part of a token. */
export function part(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return Buffer.from(text).toString('base64url');
}

/** A token in compact form, signed as RFC 7518 says, by node:crypto alone. `alg` is that of the header unless given. */
export function signed(
  key: Pick<IssuerKey, 'privateKey'>,
  header: Readonly<Record<string, unknown>>,
  claims: unknown,
  alg = String(header.alg),
): string {
  const text = `${part(header)}.${part(claims)}`;
  return `${text}.${signature(key.privateKey, alg, text).toString('base64url')}`;
}

function signature(key: KeyObject, alg: string, text: string): Buffer {
  const data = Buffer.from(text);
  if (alg === 'EdDSA') return sign(null, data, key);
  const digest = `sha${alg.slice(2)}`;
  if (alg.startsWith('ES')) return sign(digest, data, { key, dsaEncoding: 'ieee-p1363' });
  if (!alg.startsWith('PS')) return sign(digest, data, key);
  const saltLength = Number(alg.slice(2)) / 8;
  return sign(digest, data, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength });
}

/** The same token with a MAC instead of a signature. */
export function maced(secret: string | Buffer, header: Readonly<Record<string, unknown>>, claims: unknown): string {
  const text = `${part(header)}.${part(claims)}`;
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
}

/** An issuer on loopback that answers with what its properties say at the time. */
export class TestIssuer {
  keys: IssuerKey[] = [];
  /** How often each path was asked for. */
  readonly asked: Record<string, number> = {};
  /** What the configuration says besides the issuer's name and the address of its keys. */
  configuration: Readonly<Record<string, unknown>> = {};
  /** Answers in place of the issuer; true when it has. */
  instead: (request: IncomingMessage, response: ServerResponse) => boolean = () => false;
  private readonly server = createServer((request, response) => this.answer(request, response));

  /** `path` is a part of the issuer's name, such as `/realms/practice`. */
  static async open(path = ''): Promise<TestIssuer> {
    const issuer = new TestIssuer(path);
    await issuer.listen(0);
    return issuer;
  }

  private port = 0;

  private constructor(private readonly path: string) {}

  get url(): string {
    return `http://127.0.0.1:${this.port}${this.path}`;
  }

  /** A token of the first key, or of another one. */
  token(claims: Readonly<Record<string, unknown>>, key = this.keys[0] as IssuerKey): string {
    const { alg, kid } = key.jwk;
    return signed(key, { alg, kid, typ: 'JWT' }, { iss: this.url, ...claims });
  }

  /** How often the keys were asked for. */
  get keysAsked(): number {
    return this.asked['/keys'] ?? 0;
  }

  /** Goes away, and all its connections with it. */
  async close(): Promise<void> {
    const closed = new Promise((done) => this.server.close(done));
    this.server.closeAllConnections();
    await closed;
  }

  /** Comes back where it was. */
  reopen(): Promise<void> {
    return this.listen(this.port);
  }

  private async listen(port: number): Promise<void> {
    await new Promise<void>((done) => this.server.listen(port, '127.0.0.1', done));
    this.port = (this.server.address() as AddressInfo).port;
  }

  private answer(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? '';
    this.asked[path] = (this.asked[path] ?? 0) + 1;
    if (this.instead(request, response)) return;
    const configurationAt = `${this.path.replace(/\/$/, '')}/.well-known/openid-configuration`;
    const jwks_uri = `http://127.0.0.1:${this.port}/keys`;
    if (path === configurationAt) send(response, { issuer: this.url, jwks_uri, ...this.configuration });
    else if (path === '/keys') send(response, { keys: this.keys.map(({ jwk }) => jwk) });
    else response.writeHead(404).end();
  }
}

function send(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
