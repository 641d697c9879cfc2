//! The answers of the commands that are not tools.

pub mod bench;
pub mod config;
pub mod doctor;
pub mod export;
pub mod facts;
pub mod index;
pub mod projects;
pub mod reference;
pub mod views;
