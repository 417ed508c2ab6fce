// Says so where Node is too old, and ends; for programs of a checkout to import first. It asks only what every Node has.
const [major, minor] = process.versions.node.split('.').map(Number);
// bin/run.js says the same: it needs process.getBuiltinModule, which 21 never got, and 22 with its third release.
const isOld = major < 20 || (major === 20 && minor < 19) || major === 21 || (major === 22 && minor < 3);

if (isOld) {
  process.stderr.write(
    `molar needs Node 20.19 or newer, and neither 21 nor 22.0 to 22.2; this is ${process.version}.\n`,
  );
  process.exit(1);
}
