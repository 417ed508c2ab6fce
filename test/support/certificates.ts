import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Whether certificates can be made here; in CI they must be. */
export const hasOpenssl = (() => {
  try {
    execFileSync('openssl', ['version']);
    return true;
  } catch {
    return process.env.CI === 'true';
  }
})();

const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: ['ignore', 'pipe', 'ignore'] });

/** What a certificate is for, as extensions of OpenSSL. */
export const CLIENT = 'basicConstraints=critical,CA:FALSE\nextendedKeyUsage=clientAuth';
export const SERVER = 'basicConstraints=critical,CA:FALSE\nextendedKeyUsage=serverAuth\nsubjectAltName=IP:127.0.0.1';
export const AUTHORITY = 'basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign';

/** Certificates and keys in PEM in a folder, made by OpenSSL; `NAME.pem` and `NAME.key` of each. */
export class CertificateFolder {
  constructor(private readonly folder: string) {}

  path(file: string): string {
    return join(this.folder, file);
  }

  pem(name: string): { readonly cert: string; readonly key: string } {
    return {
      cert: readFileSync(this.path(`${name}.pem`), 'utf8'),
      key: readFileSync(this.path(`${name}.key`), 'utf8'),
    };
  }

  /** Makes a certificate; `by` is the name of its signer, itself when not given, and `days` when it ends. */
  make(name: string, subject: string, extensions: string, by?: string, days = 2): void {
    const [key, request, cert] = [this.path(`${name}.key`), this.path(`${name}.csr`), this.path(`${name}.pem`)];
    openssl('genpkey', '-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256', '-out', key);
    // LibreSSL, which macOS has, lets others read it.
    chmodSync(key, 0o600);
    openssl('req', '-new', '-utf8', '-key', key, '-subj', subject, '-out', request);
    writeFileSync(this.path('extensions'), extensions);
    const signer =
      by === undefined
        ? ['-signkey', key]
        : ['-CA', this.path(`${by}.pem`), '-CAkey', this.path(`${by}.key`), '-CAcreateserial'];
    const terms = ['-days', String(days), '-extfile', this.path('extensions')];
    openssl('x509', '-req', '-in', request, ...signer, ...terms, '-out', cert);
  }

  /** SHA-256 of a certificate, as OpenSSL tells it, in lower-case hex. */
  fingerprint(name: string): string {
    const told = openssl('x509', '-noout', '-fingerprint', '-sha256', '-in', this.path(`${name}.pem`)).toString();
    return told.trim().split('=')[1]?.replaceAll(':', '').toLowerCase() ?? '';
  }
}
