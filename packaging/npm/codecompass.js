#!/usr/bin/env node
// Runs the program that the package for this platform carries. Nothing is downloaded.
"use strict";
const { spawn } = require("node:child_process");

const program = process.platform === "win32" ? "codecompass.exe" : "codecompass";
const kinds = process.platform === "linux" ? ["-gnu", "-musl"] : [""];
const packages = kinds.map((kind) => `codecompass-${process.platform}-${process.arch}${kind}`);

function find() {
  for (const name of packages) {
    try {
      return require.resolve(`${name}/bin/${program}`);
    } catch {
      // npm installs what fits the platform and leaves out the rest.
    }
  }
  console.error(`codecompass: none of ${packages.join(", ")} is installed; are optional dependencies left out?`);
  process.exit(6);
}

const child = spawn(find(), process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  console.error(`codecompass: ${error.message}`);
  process.exit(6);
});
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
