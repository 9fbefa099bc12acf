/**
 * Runs a command of Terraform on a copy of terraform/ and regions/, with providers that stand in for the
 * clouds: `node test/terraform/offline.ts plan`. Nothing is kept, so a plan is that of empty accounts.
 */
import { Project } from './project.ts';

await using project = await Project.create();
const { code, stdout, stderr } = await project.run(process.argv.slice(2));
process.stdout.write(stdout);
process.stderr.write(stderr);
process.exitCode = code;
