import { TestRunner } from "vitest";
type Test = Parameters<TestRunner["onBeforeRunTask"]>[0];
type Suite = Parameters<TestRunner["onBeforeRunSuite"]>[0];
type File = Parameters<TestRunner["onCollectStart"]>[0];
interface Try {
    readonly retry: number;
    readonly repeats: number;
}
export default class IsolatingRunner extends TestRunner {
    #private;
    constructor(...args: ConstructorParameters<typeof TestRunner>);
    onCollectStart(file: File): Promise<void>;
    onBeforeRunSuite(suite: Suite): Promise<void>;
    onAfterRunSuite(suite: Suite): Promise<void>;
    onBeforeRunTask(test: Test): Promise<void>;
    /** In the async context of the test's layer. */
    runTask(test: Test): Promise<void>;
    onAfterRetryTask(test: Test, { retry, repeats }: Try): Promise<void>;
    onAfterRunTask(test: Test): Promise<void>;
    onAfterRunFiles(): Promise<void>;
}
export {};
