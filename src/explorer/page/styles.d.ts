/** The build collects the style sheets that modules import, and names the pictures. */
declare module "*.css";
declare module "*.svg" {
  const url: string;
  export default url;
}
